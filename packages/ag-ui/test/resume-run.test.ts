import { canonical, check } from '@intertie/conformance';
import {
  foldEvents,
  iterate,
  type AgentEvent,
  type AgentSource,
  type CanonicalMessage,
  type RunInput,
} from '@intertie/core';
import { createResumePoint, omit } from '@intertie/core/internal';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { serve } from '../../ai-sdk/test/serve.ts';
import { readAll } from '../../core/test/read-all.ts';
import { runControl } from '../../core/test/run-control.ts';
import { runInput } from '../../core/test/run-input.ts';
import { agUiSource } from '../src/client/ag-ui-source.ts';
import { createAGUIHandler } from '../src/server/create-ag-ui-handler.ts';
import { createScript } from './durable-run-script.ts';
import { handDriven, type HandDriven } from './hand-driven-agent.ts';

const question: CanonicalMessage = {
  id: 'u1',
  threadId: 'thread-1',
  role: 'user',
  type: 'text',
  content: { format: 2, parts: [{ type: 'text', text: 'Go.' }] },
  createdAt: new Date(0),
};
const first = runInput({ runId: 'run-1', threadId: 'thread-1', history: [question] });

type Server = HandDriven & { url: string; source: AgentSource; requested: string[] };

/** Durable agent behind an AG-UI endpoint, and the source that calls it. */
async function start(): Promise<Server> {
  const driven = await handDriven();
  const requested: string[] = [];
  const handler = createAGUIHandler(driven.agent);
  const served = await serve((request) => {
    requested.push(request.method);
    return handler(request);
  });
  onTestFinished(async () => {
    await served.close();
    driven.close();
  });
  return { ...driven, url: served.url, source: agUiSource({ url: served.url }), requested };
}

const resume = (source: AgentSource, run: RunInput, log: AgentEvent[]): Promise<AgentEvent[]> => {
  const stored = { ...question, id: run.messageId, role: 'assistant' as const };
  const from = createResumePoint({ ...stored, content: run.message ?? { format: 2, parts: [] } }, log);
  return readAll(source.resume!({ ...run, epoch: 2 }, from, runControl()));
};

/** Events without a time of their own get the time of the reader. */
const withoutTimes = (events: readonly AgentEvent[]): unknown[] =>
  events.flatMap((event) => (event.type === 'checkpoint' ? [] : [omit(event, 'at')]));

async function runScript(server: Server, run: RunInput, script: readonly AgentEvent[]): Promise<AgentEvent[]> {
  const whole = readAll(server.source.run(run, runControl()));
  const { runId } = script[0] as Extract<AgentEvent, { type: 'run-start' }>;
  await vi.waitFor(() => server.finish(runId, script), { interval: 5, timeout: 30_000 });
  return whole;
}

async function resumeEverywhere(server: Server, run: RunInput, whole: readonly AgentEvent[]): Promise<void> {
  const begun = whole.findIndex(({ type }) => type === 'checkpoint') + 1;
  for (let length = begun; length < whole.length; length += 1) {
    const rest = await resume(server.source, run, whole.slice(0, length));
    expect(withoutTimes(rest), `after ${length} events`).toEqual(withoutTimes(whole.slice(length)));
  }
}

describe('resume of agUiSource', () => {
  it('continues a run of an Intertie agent after every event', async () => {
    const server = await start();
    const whole = await runScript(server, first, createScript('run-1'));
    expect(check(canonical, whole).violations).toEqual([]);
    const tokens = whole.flatMap((event) => (event.type === 'checkpoint' ? [event.token] : []));
    // Only the response shows that the agent keeps its runs.
    expect(tokens.map((token) => server.source.canResume!(token))).toEqual([false, true]);
    await resumeEverywhere(server, first, whole);
    expect(server.requested.filter((method) => method === 'POST')).toHaveLength(1);
  });

  it('continues a run that answers a question after every event', async () => {
    const server = await start();
    const asked = await runScript(server, first, [
      { type: 'run-start', runId: 'run-1', threadId: 'thread-1', messageId: 'answer-run-1' },
      { type: 'text-start', id: 'a' },
      { type: 'text-delta', id: 'a', delta: 'May I?' },
      { type: 'text-end', id: 'a' },
      { type: 'tool-call', toolCallId: 'c', toolName: 'buy', input: {}, executor: 'runtime' },
      { type: 'question', questionId: 'q', kind: 'approval', toolCallId: 'c' },
      { type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'question', questionId: 'q' }] },
    ]);
    const message = foldEvents(asked)!.content;
    const { questionId } = message.parts.find((part) => part.type === 'tool-invocation')!.approval!;
    const answers = [{ questionId, approved: true }];
    const next = { ...first, runId: 'run-2', resumes: 'run-1', message, answers };
    const whole = await runScript(server, next, [
      {
        type: 'run-start',
        runId: 'run-1-continued',
        threadId: 'thread-1',
        messageId: 'answer-run-1',
        resumes: 'run-1',
      },
      {
        type: 'message-snapshot',
        content: (await server.store.getMessage({ threadId: 'thread-1', messageId: 'answer-run-1' }))!.content,
      },
      { type: 'answer', questionId: 'q', approved: true },
      { type: 'tool-result', toolCallId: 'c', status: 'ok', output: 1 },
      { type: 'text-start', id: 'b' },
      { type: 'text-delta', id: 'b', delta: 'Done.' },
      { type: 'text-end', id: 'b' },
      { type: 'run-end', outcome: 'complete' },
    ]);
    expect(whole.at(-1)).toMatchObject({ outcome: 'complete' });
    await resumeEverywhere(server, next, whole);
  });

  it('follows a run that is handed over while it is live, and does not stop it', async () => {
    const server = await start();
    const script = createScript('run-1');
    const control = new AbortController();
    const log: AgentEvent[] = [];
    const reading = (async () => {
      for await (const event of iterate(server.source.run(first, runControl({ signal: control.signal })))) {
        log.push(event);
        if (event.type === 'text-delta') break;
      }
    })();
    await vi.waitFor(() => server.write('run-1', script.slice(0, 9)), { interval: 5, timeout: 30_000 });
    await reading;
    control.abort({ by: 'system', message: 'hand-over' });
    const rest = resume(server.source, first, log);
    await server.finish('run-1', script.slice(9));
    expect(check(canonical, [...log, ...(await rest)]).violations).toEqual([]);
    expect((await rest).at(-1)).toMatchObject({ outcome: 'complete' });
    expect(server.requested).toEqual(['POST', 'GET']);
  });

  it('sends the request if the agent has not received it', async () => {
    const server = await start();
    const checkpoint: AgentEvent = { type: 'checkpoint', token: { runId: 'run-1', isDurable: false } };
    const log: AgentEvent[] = [
      { type: 'run-start', runId: 'run-1', threadId: 'thread-1', messageId: 'message' },
      checkpoint,
    ];
    const rest = resume(server.source, first, log);
    await vi.waitFor(() => server.finish('run-1', createScript('run-1')), { interval: 5, timeout: 30_000 });
    expect((await rest).at(-1)).toMatchObject({ outcome: 'complete' });
    expect(server.requested).toEqual(['GET', 'POST']);
  });

  it('continues the run of an agent that is being restarted', async () => {
    const server = await start();
    const whole = await runScript(server, first, createScript('run-1'));
    let isRestarting = true;
    const fetch: typeof globalThis.fetch = async (...request) => {
      if (!isRestarting) return globalThis.fetch(...request);
      isRestarting = false;
      return new Response('Restarting', { status: 503 });
    };
    const log = whole.slice(0, 9);
    const rest = await resume(agUiSource({ url: server.url, fetch }), first, log);
    expect(withoutTimes(rest)).toEqual(withoutTimes(whole.slice(9)));
  });

  it('ends as lost with the reason if the agent keeps no runs', async () => {
    const { source } = await start();
    const plain = await serve(createAGUIHandler(source));
    onTestFinished(() => plain.close());
    const log: AgentEvent[] = [
      { type: 'run-start', runId: 'run-1', threadId: 'thread-1', messageId: 'message' },
      { type: 'checkpoint', token: { runId: 'run-1', isDurable: false } },
      { type: 'text-start', id: 'a' },
    ];
    const rest = await resume(agUiSource({ url: plain.url }), first, log);
    expect(rest.at(-1)).toMatchObject({
      outcome: 'error',
      error: { code: 'lost', message: expect.stringContaining('does not let another process join it') },
      resume: { runId: 'run-1' },
    });
  });
});
