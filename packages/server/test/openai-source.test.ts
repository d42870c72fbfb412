import {
  foldEvents,
  generateId,
  type AgentEvent,
  type AgentSource,
  type CanonicalMessage,
  type RunControl,
  type RunInput,
} from '@intertie/core';
import { check, canonical } from '@intertie/conformance';
import { createResumePoint } from '@intertie/core/internal';
import { openaiSource } from '@intertie/openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askingSource } from './asking-source.ts';
import { startDemoServer, type DemoServer } from './demo-server.ts';
import { startDemoAgents, type StartedDemos } from '../src/demo/start-demo-agents.ts';
import { toolSource } from './tool-source.ts';

let server: DemoServer;
let demo: StartedDemos;

beforeAll(async () => {
  demo = await startDemoAgents({ pace: 0 });
  const agents = { ...demo.agents, caller: toolSource(), asker: askingSource() };
  server = await startDemoServer({ agents, limits: { requestsPerSecond: 10_000 } });
});
afterAll(async () => {
  await server.close();
  await demo.stop();
});

type Flavour = 'v1' | 'open-responses/v1';
const createSource = (model: string, path: Flavour = 'v1', fetch = globalThis.fetch): AgentSource =>
  openaiSource({ baseURL: `${server.url}/${path}`, model, fetch });

const control = (signal = new AbortController().signal): RunControl => ({
  signal,
  barrier: async () => {},
  liveAnswers: (async function* () {})(),
});

function createInput(text: string, more: Partial<RunInput> = {}): RunInput {
  const threadId = 'thread-1';
  const parts = [{ type: 'text' as const, text }];
  const content = { format: 2 as const, parts };
  const message: CanonicalMessage = { id: 'u', threadId, role: 'user', type: 'text', content, createdAt: new Date(0) };
  const ids = { runId: generateId(), threadId, messageId: 'm' };
  return { ...ids, startedAt: 0, history: [message], answers: [], tools: [], context: [], ...more };
}

async function readAll(events: ReadableStream<AgentEvent>): Promise<AgentEvent[]> {
  const all: AgentEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

const getText = (events: readonly AgentEvent[]): string =>
  events.flatMap((event) => (event.type === 'text-delta' ? [event.delta] : [])).join('');

describe('a remote server of the Responses API as a source', () => {
  it.each(['v1', 'open-responses/v1'] as const)('runs with reasoning and tools from /%s', async (path) => {
    const events = await readAll(createSource('helper', path).run(createInput('Weather in Oslo?'), control()));
    expect(check(canonical, events).violations).toEqual([]);
    expect(events.some(({ type }) => type === 'reasoning-delta')).toBe(true);
    expect(events.find(({ type }) => type === 'tool-result')).toMatchObject({ status: 'ok', output: { city: 'Oslo' } });
    expect(getText(events)).toContain('Oslo');
    expect(events.at(-1)).toMatchObject({ type: 'run-end', outcome: 'complete' });
  });

  it.each(['Weather in Oslo?', 'Draw a chart', 'Send an email to Ada'])(
    'continues a run of "%s" after every event of its log',
    async (text) => {
      const source = createSource('helper');
      const input = createInput(text);
      const whole = await readAll(source.run(input, control()));
      const stored = (log: AgentEvent[]): CanonicalMessage =>
        foldEvents(log) ?? { ...input.history[0]!, id: 'm', role: 'assistant', content: { format: 2, parts: [] } };
      const first = whole.findIndex(({ type }) => type === 'checkpoint') + 1;
      expect(first).toBeGreaterThan(0);
      for (let length = first; length < whole.length; length += 1) {
        const log = whole.slice(0, length);
        const point = createResumePoint(stored(log), log);
        const rest = await readAll(source.resume!({ ...input, epoch: 2 }, point, control()));
        const all = [...log, ...rest];
        expect(check(canonical, all).violations, `after ${length} events`).toEqual([]);
        expect(foldEvents(all)?.content, `after ${length} events`).toEqual(foldEvents(whole)?.content);
      }
    },
  );

  it('ends as lost without a checkpoint, and if the server no longer has the response', async () => {
    const source = createSource('helper');
    const input = createInput('Hello');
    const start: AgentEvent = { type: 'run-start', runId: input.runId, threadId: 'thread-1', messageId: 'm' };
    const message = { ...input.history[0]!, role: 'assistant' as const, content: { format: 2 as const, parts: [] } };
    const token = { responseId: 'resp_gone', sequence: 0 };
    for (const log of [[start], [start, { type: 'checkpoint' as const, token }]]) {
      const rest = await readAll(source.resume!(input, createResumePoint(message, log), control()));
      expect(rest.at(-1)).toMatchObject({ outcome: 'error', error: { code: 'lost' } });
    }
  });

  it('returns to a response after the connection was lost', async () => {
    let cuts = 0;
    const cutting: typeof fetch = async (url, init) => {
      const response = await fetch(url, init);
      if (cuts >= 2 || !response.headers.get('content-type')?.includes('event-stream')) return response;
      cuts += 1;
      const reader = response.body!.getReader();
      let left = 4000;
      const cut = new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            if (left <= 0) return controller.error(new Error('The connection was lost.'));
            const { done, value } = await reader.read();
            if (done) return controller.close();
            controller.enqueue(value.slice(0, left));
            left -= value.length;
          },
        },
        { highWaterMark: 0 },
      );
      return new Response(cut, response);
    };
    const input = createInput('Write a long answer');
    const events = await readAll(createSource('helper', 'v1', cutting).run(input, control()));
    expect(cuts).toBe(2);
    expect(check(canonical, events).violations).toEqual([]);
    const expected = await readAll(createSource('helper').run({ ...input, runId: 'other' }, control()));
    expect(getText(events)).toBe(getText(expected));
  });

  it('pauses for a client tool and continues with its result', async () => {
    const source = createSource('caller');
    const input = createInput('Call', { tools: [{ name: 'weather' }] });
    const paused = await readAll(source.run(input, control()));
    const end = paused.at(-1)!;
    expect(end).toMatchObject({ type: 'run-end', outcome: 'paused' });
    const { content } = foldEvents(paused)!;
    const call = content.parts.find((part) => part.type === 'tool-invocation')!;
    const sourceState = (end as { resume?: { responseId: string } }).resume!;
    const continued = await readAll(
      source.run(
        {
          ...input,
          runId: generateId(),
          resumes: input.runId,
          message: content,
          sourceState,
          answers: [{ toolCallId: call.toolCallId, status: 'ok', output: { celsius: 3 } }],
        },
        control(),
      ),
    );
    expect(getText(continued)).toBe('The tool returned {"celsius":3}.');
  });

  it.each(['v1', 'open-responses/v1'] as const)(
    'passes questions on from /%s, and returns the answers',
    async (path) => {
      const source = createSource('asker', path);
      const input = createInput('paint');
      const paused = await readAll(source.run(input, control()));
      expect(check(canonical, paused).violations).toEqual([]);
      const questions = paused.filter((event) => event.type === 'question');
      expect(questions.map(({ kind }) => kind)).toEqual(['approval', 'input']);
      const [approval, colour] = questions as [(typeof questions)[0], (typeof questions)[0]];
      const answers = [
        { questionId: approval.questionId, approved: true },
        { questionId: colour.questionId, value: 'red' },
      ];
      const message = foldEvents(paused)!.content;
      const sourceState = (paused.at(-1) as { resume?: { responseId: string } }).resume!;
      const continuation = { ...input, runId: generateId(), resumes: input.runId, message, sourceState, answers };
      expect(getText(await readAll(source.run(continuation, control())))).toBe('You said yes and red.');
    },
  );

  it('cancels the response of the server when it is stopped', async () => {
    const stop = new AbortController();
    const events = createSource('asker').run(createInput('slow'), control(stop.signal));
    let responseId = '';
    for await (const event of events) {
      if (event.type === 'checkpoint') ({ responseId } = event.token as { responseId: string });
      if (event.type === 'text-delta') stop.abort();
    }
    await expect
      .poll(async () => {
        const response = await fetch(`${server.url}/v1/responses/${responseId}`);
        return ((await response.json()) as { status: string }).status;
      })
      .toBe('cancelled');
  });

  it('reports the reason of a refused request', async () => {
    const events = await readAll(createSource('nobody').run(createInput('Hi'), control()));
    expect(events.at(-1)).toMatchObject({ outcome: 'error', error: { code: 'model_not_found' } });
  });
});
