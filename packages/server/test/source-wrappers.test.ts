import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withAGUIWriter } from '@intertie/ag-ui';
import { tapeSource, type AgentEvent, type AgentSource } from '@intertie/core';
import { createResumePoint } from '@intertie/core/internal';
import { describe, expect, it } from 'vitest';
import { filesIn, packages, root } from '../../../scripts/workspace.mjs';
import { readAll } from '../../core/test/read-all.ts';
import { runControl } from '../../core/test/run-control.ts';
import { runInput } from '../../core/test/run-input.ts';
import { sourceDefinition } from '../src/agents/agent-definition.ts';
import { FrameRecorder } from '../src/host/frame-recorder.ts';
import { ModelCallRecorder } from '../src/host/model-call-recorder.ts';
import { createRecordedSource } from '../src/host/record-source.ts';

const events: AgentEvent[] = [
  { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm' },
  { type: 'text-start', id: 'a' },
  { type: 'text-delta', id: 'a', delta: 'Hello' },
  { type: 'text-end', id: 'a' },
  { type: 'run-end', outcome: 'complete' },
];
const topology = { agents: [], edges: [] };
const tape = { header: { tape: 1 as const, dialect: 'canonical' }, items: events.map((item) => ({ t: 0, item })) };
const inner: AgentSource = {
  ...tapeSource(tape, { speed: Infinity }),
  canResume: (token) => token === 'known',
  describe: async () => topology,
};

const wrappers: { [name: string]: (source: AgentSource) => AgentSource } = {
  'a custom source with a name': (source) => sourceDefinition(source).createSource('named'),
  createRecordedSource: (source) =>
    createRecordedSource('named', sourceDefinition(source), {
      frames: new FrameRecorder(),
      modelCalls: new ModelCallRecorder(),
    }),
  withAGUIWriter: (source) => withAGUIWriter(() => source),
};

describe.each(Object.entries(wrappers))('%s', (_, wrap) => {
  it('forwards the optional members of a source', async () => {
    const wrapped = wrap(inner);
    expect(await wrapped.describe!()).toBe(topology);
    expect([wrapped.canResume!('known'), wrapped.canResume!('other')]).toEqual([true, false]);
    const whole = await readAll(wrapped.run(runInput(), runControl()));
    const stored = { ...message, content: { format: 2 as const, parts: [] } };
    const from = createResumePoint(stored, whole.slice(0, 3));
    const rest = await readAll(wrapped.resume!(runInput({ epoch: 2 }), from, runControl()));
    expect(rest.map(({ type }) => type)).toEqual(whole.slice(3).map(({ type }) => type));
  });

  it('adds no optional member that the source lacks', () => {
    const { name, pauses, run } = inner;
    const wrapped = wrap({ name, pauses, run });
    expect([wrapped.resume, wrapped.canResume, wrapped.describe]).toEqual([undefined, undefined, undefined]);
  });
});

const message = {
  id: 'message',
  threadId: 'thread',
  role: 'assistant' as const,
  type: 'text' as const,
  createdAt: new Date(0),
};

/** Files that call `run` of a source. A new one that creates a source belongs in `wrappers` and forwards optional members. */
const callers = {
  consumers: [
    'packages/ag-ui/src/server/create-ag-ui-handler.ts',
    'packages/agent/src/execution/execution.ts',
    'packages/ai-sdk/src/chat/handler/live-runs.ts',
    'packages/mail/src/encode/replay-mail.ts',
    'packages/server/src/cli/chat/chat-session.ts',
  ],
  wrappers: [
    'packages/ag-ui/src/stream-text/with-ag-ui-writer.ts',
    'packages/open-harness/src/chat/open-harness-chat-transport.ts',
    'packages/server/src/host/record-source.ts',
  ],
  // Sources of command-line tools, which have no durable runs.
  tools: ['packages/server/src/cli/chat/detecting-source.ts', 'packages/server/src/cli/replay/replay-handler.ts'],
};

it('knows every file that calls a source, and wrappers use `override`', () => {
  const read = (file: string): string => readFileSync(join(root, file), 'utf8');
  const found = packages().flatMap(({ folder }) =>
    filesIn(join(root, folder, 'src'))
      .map((file) => `${folder}/src/${file}`)
      .filter((file) => /\.tsx?$/.test(file) && !file.includes('.test') && callsSource.test(read(file))),
  );
  expect(found.toSorted()).toEqual(Object.values(callers).flat().toSorted());
  for (const file of callers.wrappers) expect(read(file), file).toContain('return override(');
});

const callsSource = /\b(?:source|sources\[.*\]!|known|inner)\.run\(/;
