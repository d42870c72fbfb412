import { Agent } from '@intertie/agent';
import { canonical, check } from '@intertie/conformance';
import {
  createInMemoryStore,
  seal,
  sourceStream,
  type AgentEvent,
  type AgentSource,
  type CanonicalMessage,
  type MessagePart,
  type RunInput,
} from '@intertie/core';
import { createResumePoint, omit, pause } from '@intertie/core/internal';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readAll } from '../../core/test/read-all.ts';
import { runControl } from '../../core/test/run-control.ts';
import { runInput } from '../../core/test/run-input.ts';
import { a2aSource, createA2AHandler, type A2ASourceOptions } from '../src/index.ts';
import { startSampleServer, type SampleServer } from './sample-server.ts';

const getText = (parts: readonly MessagePart[]): string =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('');

describe.each(['JSONRPC', 'HTTP+JSON'] as const)("a2aSource on the SDK's own server, %s", (transport) => {
  let sample: SampleServer;
  beforeAll(async () => {
    sample = await startSampleServer();
  });
  afterAll(() => sample.close());

  const createAgent = (): Agent =>
    new Agent({ source: a2aSource({ url: sample.url, transport }), store: createInMemoryStore() });

  it('streams artifacts as text', async () => {
    const { text, message } = await createAgent().generate({ message: 'Hello' });
    expect(text).toBe('You said: Hello');
    expect(message).toMatchObject({ status: 'complete', sourceState: { taskId: expect.any(String) as string } });
  });

  it('stays in the context of the thread', async () => {
    const agent = createAgent();
    const first = await agent.generate({ threadId: 't', message: 'Hello' });
    const second = await agent.generate({ threadId: 't', message: 'Again' });
    expect(second.text).toBe('You said: Again');
    const [one, two] = [first, second].map(
      ({ message }) => message.sourceState as { contextId: string; taskId: string },
    );
    expect(two?.contextId).toBe(one?.contextId);
    expect(two?.taskId).not.toBe(one?.taskId);
  });

  it('reads an answer in a message or in the last status', async () => {
    expect((await createAgent().generate({ message: 'message' })).text).toBe('A direct answer');
    expect((await createAgent().generate({ message: 'status' })).text).toBe('An answer in the status');
  });

  it('pauses for input, and answers with text', async () => {
    const agent = createAgent();
    const { message } = await agent.generate({ threadId: 't', message: 'ask' });
    expect(message.status).toBe('paused');
    const [question] = message.content.parts;
    expect(question).toMatchObject({ type: 'question', kind: 'input', message: 'Which city?' });
    const { questionId } = question as { questionId: string };
    const done = await agent.generate({ threadId: 't', answers: [{ questionId, value: 'Lisbon' }] });
    expect(done.message.status).toBe('complete');
    expect(getText(done.message.content.parts)).toBe('You said: Lisbon');
  });

  it('reports a rejected task', async () => {
    const { message } = await createAgent().generate({ message: 'reject' });
    expect(message.content.runs?.[0]).toMatchObject({ error: { code: 'a2a-rejected', message: 'Not my job' } });
  });

  it('cancels the task of a run that is stopped', async () => {
    const run = await createAgent().stream({ message: 'wait' });
    await pause(300);
    await run.stop();
    expect((await run.message).status).toBe('aborted');
    await expect.poll(() => sample.canceled.size, { timeout: 30_000 }).toBe(1);
  });

  it('reports an agent that cannot be reached', async () => {
    const source = a2aSource({ url: 'http://127.0.0.1:9' });
    const { message } = await new Agent({ source, store: createInMemoryStore() }).generate({ message: 'Hello' });
    expect(message.status).toBe('error');
  });
});

const script: AgentEvent[] = [
  { type: 'agent-start', agentId: 'a', name: 'writer', kind: 'agent' },
  { type: 'step-start', stepId: 's', agentId: 'a' },
  { type: 'reasoning-start', id: 'r', agentId: 'a', stepId: 's' },
  { type: 'reasoning-delta', id: 'r', delta: 'Let me see.' },
  { type: 'reasoning-end', id: 'r' },
  { type: 'tool-call', toolCallId: 'c', toolName: 'look', input: { a: 1 }, agentId: 'a', stepId: 's' },
  { type: 'tool-result', toolCallId: 'c', status: 'ok', output: { b: 2 } },
  { type: 'text-start', id: 'x', agentId: 'a', stepId: 's' },
  { type: 'text-delta', id: 'x', delta: 'Hello, ' },
  { type: 'text-delta', id: 'x', delta: 'world' },
  { type: 'text-end', id: 'x' },
  { type: 'file', id: 'f', data: 'aGk=', mimeType: 'text/plain', filename: 'hi.txt' },
  { type: 'data', id: 'd', name: 'chart', data: { bars: [1] } },
  { type: 'step-end', stepId: 's', finishReason: 'stop', usage: [{ outputTokens: 3 }] },
  { type: 'agent-end', agentId: 'a', outcome: 'complete' },
];

/** Source that plays a script, asks once, and continues after the answer. */
function scriptedSource(events: AgentEvent[], ask = false): AgentSource {
  const play = async function* (run: RunInput): AsyncGenerator<AgentEvent> {
    if (run.message) {
      yield* [
        { type: 'text-start', id: 'y' },
        { type: 'text-delta', id: 'y', delta: ' Thanks.' },
        { type: 'text-end', id: 'y' },
      ] as AgentEvent[];
      return yield { type: 'run-end', outcome: 'complete' };
    }
    yield* events;
    if (!ask) return yield { type: 'run-end', outcome: 'complete', finishReason: 'stop' };
    yield { type: 'question', questionId: 'q', kind: 'input', message: 'Which one?', schema: { type: 'string' } };
    return yield { type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'question', questionId: 'q' }] };
  };
  return {
    name: 'scripted',
    pauses: 'replay',
    run: (run, { signal }) =>
      sourceStream(
        () => play(run),
        seal(run, () => undefined),
        { signal },
      ),
  };
}

/** Connects a source to the handler of an agent, without a socket. */
function connect(source: AgentSource, options: Partial<A2ASourceOptions> = {}): { remote: Agent; local: Agent } {
  const remote = new Agent({ source, store: createInMemoryStore() });
  const handle = createA2AHandler(remote);
  const fetch: typeof globalThis.fetch = (input, init) => handle(new Request(input, init));
  const calling = a2aSource({ url: 'http://remote.example/a2a', fetch, ...options });
  return { remote, local: new Agent({ source: calling, store: createInMemoryStore() }) };
}

async function readEvents(agent: Agent, threadId: string): Promise<AgentEvent[]> {
  const run = (await agent.latest({ threadId }))!;
  const events: AgentEvent[] = [];
  for await (const item of run.follow()) if (item.type === 'events') events.push(...item.events);
  return events;
}

describe.each(['JSONRPC', 'HTTP+JSON'] as const)('a2aSource on our own handler, %s', (transport) => {
  it('preserves the canonical events', async () => {
    const { remote, local } = connect(scriptedSource(script), { transport });
    const { message } = await local.generate({ threadId: 't', message: 'Go' });
    const { taskId, contextId } = message.sourceState as { taskId: string; contextId: string };
    const normalize = (events: AgentEvent[]): object[] =>
      events
        .filter(({ type }) => type !== 'run-start' && type !== 'checkpoint')
        .map((event) => omit(event as AgentEvent & { resume?: unknown }, 'at', 'origin', 'resume'));
    const expected = await readEvents(remote, contextId);
    expect(normalize(await readEvents(local, 't'))).toEqual(normalize(expected));
    expect(expected[0]).toMatchObject({ messageId: taskId });
  });

  it('pauses and continues with the answer', async () => {
    const { local } = connect(scriptedSource(script, true), { transport });
    const paused = await local.generate({ threadId: 't', message: 'Go' });
    expect(paused.message.status).toBe('paused');
    expect(paused.message.content.parts.at(-1)).toMatchObject({
      type: 'question',
      questionId: 'q',
      message: 'Which one?',
    });
    const done = await local.generate({ threadId: 't', answers: [{ questionId: 'q', value: 'this' }] });
    expect(done.message.status).toBe('complete');
    expect(getText(done.message.content.parts)).toBe('Hello, world Thanks.');
  });

  it('subscribes again if the connection breaks', async () => {
    const slow = async function* (): AsyncGenerator<AgentEvent> {
      for (const event of script) {
        await pause(30);
        yield event;
      }
      yield { type: 'run-end', outcome: 'complete' };
    };
    const source: AgentSource = {
      ...scriptedSource(script),
      run: (run, { signal }) =>
        sourceStream(
          slow,
          seal(run, () => undefined),
          { signal },
        ),
    };
    const remote = new Agent({ source, store: createInMemoryStore() });
    const handle = createA2AHandler(remote);
    let breaks = 0;
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const response = await handle(new Request(input, init));
      if (!response.headers.get('content-type')?.startsWith('text/event-stream') || breaks === 2) return response;
      breaks += 1;
      return new Response(response.body!.pipeThrough(breakAfter(4)), response);
    };
    const calling = a2aSource({ url: 'http://remote.example/a2a', fetch, transport });
    const local = new Agent({ source: calling, store: createInMemoryStore() });
    const { message } = await local.generate({ threadId: 't', message: 'Go' });
    expect(breaks).toBe(2);
    expect(message.status).toBe('complete');
    const { contextId } = message.sourceState as { contextId: string };
    const { messages } = await remote.history({ threadId: contextId, format: 'canonical' } as never);
    expect(message.content.parts).toEqual((messages.at(-1) as unknown as typeof message).content.parts);
  });
});

function breakAfter(chunks: number): TransformStream<Uint8Array, Uint8Array> {
  let count = 0;
  return new TransformStream({
    transform(chunk, controller) {
      count += 1;
      if (count > chunks) controller.error(new TypeError('terminated'));
      else controller.enqueue(chunk);
    },
  });
}

const prompt: CanonicalMessage = {
  id: 'u',
  threadId: 'thread',
  role: 'user',
  type: 'text',
  content: { format: 2, parts: [{ type: 'text', text: 'Go' }] },
  createdAt: new Date(0),
};
const empty: CanonicalMessage = { ...prompt, id: 'message', role: 'assistant', content: { format: 2, parts: [] } };

function toInput(text: string): RunInput {
  return runInput({ history: [{ ...prompt, content: { format: 2, parts: [{ type: 'text', text }] } }] });
}

const resume = (source: AgentSource, input: RunInput, log: AgentEvent[], stored = empty): Promise<AgentEvent[]> =>
  readAll(source.resume!({ ...input, epoch: 2 }, createResumePoint(stored, log), runControl()));

it('resumes a task that paused meanwhile with its tool calls, reasoning and agents', async () => {
  const handle = createA2AHandler(new Agent({ source: scriptedSource(script, true), store: createInMemoryStore() }));
  const fetch: typeof globalThis.fetch = (input, init) => handle(new Request(input, init));
  const source = a2aSource({ url: 'http://remote.example/a2a', fetch });
  const whole = await readAll(source.run(toInput('Go'), runControl()));
  const { content } = createResumePoint(empty, whole).message;
  for (let length = whole.findIndex(({ type }) => type === 'checkpoint') + 1; length < whole.length; length += 1) {
    const log = whole.slice(0, length);
    const all = [...log, ...(await resume(source, toInput('Go'), log))];
    expect(check(canonical, all).violations, `after ${length} events`).toEqual([]);
    expect(createResumePoint(empty, all).message.content, `after ${length} events`).toEqual(content);
  }
});

describe("resume of a2aSource on the SDK's own server", () => {
  let sample: SampleServer;
  beforeAll(async () => {
    sample = await startSampleServer();
  });
  afterAll(() => sample.close());

  /** Pauses a run for a question, and returns the run that answers it. */
  async function answer(source: AgentSource, value: string): Promise<{ input: RunInput; stored: CanonicalMessage }> {
    const paused = await readAll(source.run(toInput('ask'), runControl()));
    const { message } = createResumePoint(empty, paused);
    const parts = message.content.parts.map((part) =>
      part.type === 'question' ? { ...part, answer: { questionId: part.questionId, value } } : part,
    );
    const stored = { ...message, content: { ...message.content, parts } };
    const more = { runId: 'run-2', resumes: 'run', message: stored.content, sourceState: message.sourceState! };
    return { input: { ...toInput('ask'), ...more }, stored };
  }

  /** Log of a process that died before the first item. */
  const toEarlyLog = ({ runId, threadId, messageId, message }: RunInput): AgentEvent[] => [
    { type: 'run-start', runId, threadId, messageId, ...(message && { resumes: 'run' }) },
    ...(message ? [{ type: 'message-snapshot' as const, content: message }] : []),
  ];

  it('hands over a run only after its first item', async () => {
    const source = a2aSource({ url: sample.url });
    const rest = await resume(source, toInput('Hello'), toEarlyLog(toInput('Hello')));
    expect(rest.at(-1)).toMatchObject({ outcome: 'error', error: { code: 'lost' } });
    expect([undefined, { taskId: 't' }].map((token) => source.canResume!(token))).toEqual([false, true]);
  });

  it('continues the answered task if the process died before the first item', async () => {
    const source = a2aSource({ url: sample.url });
    const { input, stored } = await answer(source, 'Lisbon');
    await readAll(source.run(input, runControl()));
    const rest = await resume(source, input, toEarlyLog(input), stored);
    expect(rest.at(-1)).toMatchObject({ outcome: 'complete' });
    expect(rest).toContainEqual(expect.objectContaining({ type: 'text-delta', delta: 'You said: Lisbon' }));
  });

  it('sends the answers if the task has not received them', async () => {
    const source = a2aSource({ url: sample.url });
    const { input, stored } = await answer(source, 'Lisbon');
    const rest = await resume(source, input, toEarlyLog(input), stored);
    expect(rest.at(-1)).toMatchObject({ outcome: 'complete' });
  });

  it('does not send the answers to the next question of the task', async () => {
    const bodies: unknown[] = [];
    const fetch: typeof globalThis.fetch = (url, init) => {
      bodies.push(init?.body);
      return globalThis.fetch(url, init);
    };
    const source = a2aSource({ url: sample.url, fetch });
    const { input, stored } = await answer(source, 'ask again');
    await readAll(source.run(input, runControl()));
    bodies.length = 0;
    const rest = await resume(source, input, toEarlyLog(input), stored);
    expect(rest).toContainEqual(expect.objectContaining({ type: 'question', message: 'Which country?' }));
    expect(rest.at(-1)).toMatchObject({ outcome: 'paused' });
    expect(bodies.some((body) => String(body).includes('ask again'))).toBe(false);
  });

  it('continues the task of an agent that is being restarted', async () => {
    const whole = await readAll(a2aSource({ url: sample.url }).run(toInput('Hello'), runControl()));
    let isRestarting = true;
    const fetch: typeof globalThis.fetch = async (...request) => {
      if (!isRestarting) return globalThis.fetch(...request);
      isRestarting = false;
      return new Response('Restarting', { status: 503 });
    };
    const log = whole.slice(0, whole.findIndex(({ type }) => type === 'checkpoint') + 1);
    const rest = await resume(a2aSource({ url: sample.url, fetch }), toInput('Hello'), log);
    expect(rest.at(-1)).toMatchObject({ outcome: 'complete' });
  });

  it('cancels the task of a resumed run that is stopped while the card is read', async () => {
    const stop = new AbortController();
    const running = a2aSource({ url: sample.url }).run(toInput('wait'), runControl()).getReader();
    const log: AgentEvent[] = [];
    while (log.at(-1)?.type !== 'checkpoint') log.push((await running.read()).value!);
    const fetch: typeof globalThis.fetch = async (...request) => {
      stop.abort({ by: 'user' });
      return globalThis.fetch(...request);
    };
    const { resume: continueRun } = a2aSource({ url: sample.url, fetch });
    const control = runControl({ signal: stop.signal });
    const rest = await readAll(continueRun!({ ...toInput('wait'), epoch: 2 }, createResumePoint(empty, log), control));
    expect(rest.at(-1)).toMatchObject({ outcome: 'aborted' });
    await expect.poll(() => sample.canceled.size, { timeout: 30_000 }).toBe(1);
    await running.cancel();
  });
});
