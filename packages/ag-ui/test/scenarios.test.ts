import { describe, expect, it } from 'vitest';
import type { AGUIEvent } from '../src/shared/ag-ui-event.ts';
import { AgentsToAGUIAdapter } from '../src/stream-text/agents-to-ag-ui-adapter.ts';
import { toAGUI, type StreamTextLike } from '../src/stream-text/to-ag-ui.ts';
import { replay, schemaProblems, verify } from './ag-ui-client.ts';
import { scenarios, tools, type Scenario } from './scenarios.ts';
import { collect, majors, scriptedModel } from './scripted-model.ts';
import { describeMessages, describeSteps } from './describe-messages.ts';

type Ai = (typeof majors)[number]['ai'];
type Result = ReturnType<Ai['streamText']>;
type EntryPoint = (stream: StreamTextLike, runId: string) => AsyncIterable<AGUIEvent>;

const entryPoints: Record<string, EntryPoint> = {
  toAGUI: (stream, runId) => toAGUI(stream, { threadId: 'thread-1', runId, tools, protocolVersion: '1.0' }),
  AgentsToAGUIAdapter: (stream, runId) =>
    new AgentsToAGUIAdapter({ protocolVersion: '1.0', tools }).adaptStreamToAGUI(stream, 'thread-1', runId),
  'toAGUI, with foreign events in between': (stream, runId) => wrapped(entryPoints.toAGUI!(stream, runId)),
  'AgentsToAGUIAdapter, with foreign events in between': (stream, runId) =>
    wrapped(entryPoints.AgentsToAGUIAdapter!(stream, runId)),
};

/** Events that a wrapper around an entry point may add. */
const added: AGUIEvent[] = [
  { type: 'CUSTOM', name: 'their.progress', value: 1 },
  { type: 'STATE_SNAPSHOT', snapshot: { progress: 1 } },
  { type: 'STATE_DELTA', delta: [{ op: 'replace', path: '/progress', value: 2 }] },
  { type: 'ACTIVITY_SNAPSHOT', messageId: 'their-plan', activityType: 'PLAN', content: {} },
  { type: 'RAW', event: null },
];

async function* wrapped(events: AsyncIterable<AGUIEvent>): AsyncGenerator<AGUIEvent> {
  let count = 0;
  for await (const event of events) {
    yield event;
    const isOver = event.type === 'RUN_FINISHED' || event.type === 'RUN_ERROR';
    if (!isOver) yield added[count % added.length]!;
    count += 1;
  }
}

async function play(
  ai: Ai,
  scenario: Scenario,
  entryPoint: EntryPoint,
  runId: string,
): Promise<{ events: AGUIEvent[]; result: Result }> {
  const stop = new AbortController();
  const result = ai.streamText({
    model: scriptedModel(scenario.turns),
    prompt: 'Go.',
    tools,
    stopWhen: ai.stepCountIs(5),
    maxRetries: 0,
    abortSignal: stop.signal,
    includeRawChunks: scenario.includeRawChunks ?? false,
    onError: () => undefined,
    onChunk: ({ chunk }) => {
      if (chunk.type === scenario.abortAfter) stop.abort();
    },
  });
  return { events: await collect(entryPoint(result, runId)), result };
}

const named = (name: string): Scenario => scenarios.find((scenario) => scenario.name === name)!;

const ends = (event: AGUIEvent | undefined): string | undefined => {
  if (event?.type === 'RUN_ERROR') return 'error';
  return event?.type === 'RUN_FINISHED' ? (event.outcome?.type ?? 'success') : undefined;
};

describe.each(majors)('$name', ({ ai }) => {
  describe.each(Object.keys(entryPoints))('%s', (entryName) => {
    const entryPoint = entryPoints[entryName]!;

    it.each(scenarios)('$name', async (scenario) => {
      const { events, result } = await play(ai, scenario, entryPoint, 'run-1');
      expect(schemaProblems(events)).toEqual([]);
      expect(entryName.startsWith('toAGUI') ? await verify(events) : undefined).toBeUndefined();
      expect(events.filter(({ type }) => type === 'RUN_FINISHED' || type === 'RUN_ERROR')).toHaveLength(1);
      expect(ends(events.at(-1))).toBe(scenario.ends);

      const client = await replay([events]);
      expect({ error: client.error, warnings: client.warnings }).toEqual({ error: undefined, warnings: [] });
      const steps = scenario.ends === 'success' || scenario.ends === 'interrupt' ? await result.steps : undefined;
      const received = describeMessages(client.messages);
      expect(steps ? received : []).toEqual(steps ? describeSteps(steps) : []);
    });

    it('emits encrypted values, sources, files, raw chunks and failed results', async () => {
      const received = async (name: string) => {
        const played = await play(ai, named(name), entryPoint, 'run-1');
        return { ...(await replay([played.events])), events: played.events };
      };
      const sealed = await received('reasoning-encrypted');
      const values = sealed.messages.flatMap((message) => [
        'encryptedValue' in message ? message.encryptedValue : undefined,
        ...('toolCalls' in message ? (message.toolCalls ?? []).map(({ encryptedValue }) => encryptedValue) : []),
      ]);
      expect(values.filter((value) => value !== undefined).map((value) => JSON.parse(value) as unknown)).toEqual([
        { anthropic: { signature: 'sig-1' } },
        { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'enc-1' } },
        { google: { thoughtSignature: 'thought-1' } },
        { google: { thoughtSignature: 'thought-2' } },
      ]);
      const { events } = await received('sources-files');
      const custom = events.filter((event) => event.type === 'CUSTOM' && event.name.startsWith('intertie.'));
      expect(custom).toMatchObject([
        { name: 'intertie.source', value: { url: 'https://example.com', title: 'Example' } },
        { name: 'intertie.file', value: { mimeType: 'image/png', data: 'iVBORw==' } },
      ]);
      expect((await received('raw-chunks')).events).toContainEqual(
        expect.objectContaining({ type: 'RAW', event: { type: 'raw', rawValue: { id: 'chunk-1' } } }),
      );
      const failed = (await received('tool-error')).messages.find(({ role }) => role === 'tool');
      expect(failed).toMatchObject({ content: 'No such city.', metadata: { intertie: { status: 'error' } } });
    });

    it('emits the error of a failed run', async () => {
      const failed = scenarios.filter(({ ends: end }) => end === 'error');
      const terminals = await Promise.all(
        failed.map(async (scenario) => (await play(ai, scenario, entryPoint, 'run-1')).events.at(-1)),
      );
      expect(terminals.map((event) => event?.type === 'RUN_ERROR' && event.message)).toEqual(
        failed.map(({ error }) => error),
      );
    });

    it('separates two runs whose provider uses the same ids', async () => {
      const scenario = named('two-runs-same-provider-ids');
      const first = await play(ai, scenario, entryPoint, 'run-1');
      const second = await play(ai, scenario, entryPoint, 'run-2');
      const { messages } = await replay([first.events, second.events]);
      expect(describeMessages(messages)).toEqual(['reasoning=hm', 'text=same', 'reasoning=hm', 'text=same']);
    });

    it('leaves a client tool pending and interrupts for an approval', async () => {
      const client = (await play(ai, named('tool-client-side'), entryPoint, 'run-1')).events.at(-1);
      expect(client).toMatchObject({ outcome: { type: 'success', pendingToolCallIds: ['c1'] } });
      const asked = (await play(ai, named('tool-approval'), entryPoint, 'run-1')).events.at(-1);
      expect(asked).toMatchObject({
        outcome: { type: 'interrupt', interrupts: [{ reason: 'tool_call', toolCallId: 'c1' }] },
      });
    });
  });
});
