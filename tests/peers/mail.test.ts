import { fileURLToPath } from 'node:url';

import { iterate, type AgentEvent, type CanonicalMessage, type RunInput } from '@intertie/core';
import { createResumePoint, omit } from '@intertie/core/internal';
import { createMAIL, mailMetadata, mailSource, type MAILProvider, type MAILProviderSettings } from '@intertie/mail';
import { generateText, stepCountIs, streamText, tool, type ModelMessage } from 'ai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';

import { pythonFor } from '../../scripts/python.mjs';
import { startPythonServer, type PythonServer } from './python-server.ts';

Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
const path = (name: string): string => fileURLToPath(new URL(`mail/${name}`, import.meta.url));
const found = pythonFor(path('requirements.txt'));
const ask = tool({ inputSchema: z.object({ question: z.string() }), execute: async () => 'Paris' });
const clientTool = tool({ inputSchema: z.object({ n: z.number() }), execute: async ({ n }) => ({ n }) });

describe('a real MAIL 1.3.6 server', () => {
  let swarm: PythonServer;
  let mail: MAILProvider;
  const provider = (settings: MAILProviderSettings = {}): MAILProvider =>
    createMAIL({ baseUrl: swarm.url, authToken: 'alice', ...settings });

  beforeAll(async () => {
    if ('missing' in found) return;
    swarm = await startPythonServer(found.python, path('swarm.py'), 2);
    mail = provider();
  });
  afterAll(() => void swarm?.process.kill());
  beforeEach((context) => context.skip('missing' in found, 'missing' in found ? found.missing : ''));

  it('passes mail.check()', async () => {
    expect(await mail.check({ swarm: 'scripted' })).toMatchObject({
      ok: true,
      version: '1.3',
      auth: 'token',
      user: { id: 'alice', role: 'user' },
      entrypoint: 'supervisor',
    });
    expect(await provider({ authToken: '' }).check()).toMatchObject({ ok: true, auth: 'debug' });
  });

  it('streams a simple answer and its reasoning once', async () => {
    const result = streamText({ model: mail('scripted'), prompt: 'simple hi' });
    expect(await result.text).toBe('turn 1: hi/ok ☃');
    expect(await result.reasoningText).toBe('It is simple.I will finish.');
    expect(await result.warnings).toEqual([]);
    expect(mailMetadata(await result.providerMetadata)).toMatchObject({ taskStatus: 'completed' });
  });

  it('answers without a key in debug mode', async () => {
    const { text } = await generateText({ model: provider({ authToken: '' })('scripted'), prompt: 'simple hi' });
    expect(text).toContain('hi/ok');
  });

  it('delegates to an agent with an action', async () => {
    const { text, toolResults } = await generateText({ model: mail('scripted'), prompt: 'delegate' });
    expect(text).toBe('It is sunny');
    expect(toolResults).toMatchObject([
      { toolName: 'get_weather', output: { city: 'Tokyo', sky: 'sunny/20C' }, providerExecuted: true },
    ]);
  });

  it('delegates to two agents concurrently', async () => {
    const { text } = await generateText({ model: mail('scripted'), prompt: 'parallel' });
    expect(text).toBe('one! and two!');
  });

  it('pauses at a breakpoint and continues with the answer', async () => {
    const tools = { ask_user: ask };
    const result = streamText({ model: mail('scripted'), prompt: 'ask', stopWhen: stepCountIs(3), tools });
    expect(await result.text).toBe('You said Paris');
    expect((await result.steps).map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop']);
  });

  it('resumes a paused task from its resumeToken alone', async () => {
    const paused = await generateText({ model: mail('scripted'), prompt: 'ask' });
    const { taskId, resumeToken } = mailMetadata(paused.providerMetadata);
    const resumed = await generateText({ model: mail('scripted', { taskId: resumeToken }), prompt: 'Paris' });
    expect(resumed.text).toBe('You said Paris');
    expect(mailMetadata(resumed.providerMetadata)).toMatchObject({ taskId, taskStatus: 'completed' });
  });

  it('labels messages between agents and shows the tools of MAIL', async () => {
    const chatty = provider({ includeAgentChatter: true })('scripted', { toolCalls: 'all' });
    const { text, toolCalls } = await generateText({ model: chatty, prompt: 'delegate' });
    expect(text).toBe('[supervisor]: Tokyo?\n[weather-agent]: sunny\n[supervisor]: It is sunny');
    expect(toolCalls.map(({ toolName }) => toolName)).toEqual([
      'send_request',
      'get_weather',
      'send_response',
      'task_complete',
    ]);
  });

  it('accepts the answers to two breakpoints together', async () => {
    const tools = { ask_user: ask, client_tool: clientTool };
    const { text } = await generateText({ model: mail('scripted'), prompt: 'both', stopWhen: stepCountIs(3), tools });
    expect(text).toBe('Paris {"n":2}');
  });

  it('uses one task for three turns', async () => {
    const messages: ModelMessage[] = [];
    for (const [index, word] of ['one', 'two', 'three'].entries()) {
      messages.push({ role: 'user', content: `simple ${word}` });
      const { text, response } = await generateText({ model: mail('scripted'), messages });
      expect(text).toBe(`turn ${index + 1}: ${word}/ok ☃`);
      messages.push(...response.messages);
    }
  });

  it('recovers from the error of one agent, and reports that of the entrypoint', async () => {
    const { text } = await generateText({ model: mail('scripted'), prompt: 'recover' });
    expect(text).toBe('recovered');
    const failed = generateText({ model: mail('scripted'), maxRetries: 0, prompt: 'fail' });
    await expect(failed).rejects.toThrow('completion failed after 5 retries');
  });

  it('starts a new task if the server has lost the old one', async () => {
    const model = mail('scripted', { taskId: 'never-was', resumeFrom: 'user_response' });
    const result = await generateText({ model, prompt: 'simple again' });
    expect(result.text).toBe('turn 1: again/ok ☃');
    expect(result.warnings).toHaveLength(1);
  });

  it('refuses a wrong key', async () => {
    const call = generateText({ model: provider({ authToken: 'wrong' })('scripted'), maxRetries: 0, prompt: 'simple' });
    await expect(call).rejects.toThrow('rejected the key');
  });

  it('disconnects immediately when the run is stopped', async () => {
    const stop = new AbortController();
    const model = mail('scripted');
    const result = streamText({ model, prompt: 'slow 30', abortSignal: stop.signal, onError: () => undefined });
    const types: string[] = [];
    for await (const part of result.fullStream) {
      types.push(part.type);
      if (part.type === 'start-step') stop.abort();
    }
    expect(types.at(-1)).toBe('abort');
  });

  it('reads to the end after a lost connection', async () => {
    const cutting: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (init?.method !== 'POST' || !response.body) return response;
      const reader = response.body.getReader();
      let isFirst = true;
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          if (!isFirst) return controller.error(new TypeError('terminated'));
          isFirst = false;
          const { value } = await reader.read();
          if (value) controller.enqueue(value);
        },
      });
      return new Response(body, response);
    };
    for (const authToken of ['alice', '']) {
      const model = provider({ authToken, fetch: cutting })('scripted');
      const { text } = await generateText({ model, prompt: 'slow 2' });
      expect(text).toBe('slow and done');
    }
  });

  it('separates twenty concurrent tasks', async () => {
    const words = Array.from({ length: 20 }, (_, index) => `w${index}`);
    const calls = words.map((word) => generateText({ model: mail('scripted'), prompt: `simple ${word}` }));
    const texts = (await Promise.all(calls)).map(({ text }) => text);
    expect(texts).toEqual(words.map((word) => `turn 1: ${word}/ok ☃`));
  });

  it('describes its agents as a source', async () => {
    const described = await mailSource({ baseUrl: swarm.url }).describe?.();
    expect(described?.edges).toContainEqual({ from: 'supervisor', to: 'math' });
  });

  it.each(['delegate', 'parallel', 'both', 'slow 1'])(
    'continues the run "%s" of a dead process from the record of its task, after every event',
    async (text) => {
      for (const authToken of ['alice', '']) {
        const source = mailSource({ baseUrl: swarm.url, authToken });
        const run = createRun(text);
        const whole = await readAll(source.run(run, control));
        const begun = whole.findIndex(({ type }) => type === 'checkpoint') + 1;
        for (let length = begun; length < whole.length; length += 1) {
          const from = createResumePoint(answer, whole.slice(0, length));
          const rest = await readAll(source.resume!({ ...run, epoch: 2 }, from, control));
          expect(withoutTimes(rest), `after ${length} events`).toEqual(withoutTimes(whole.slice(length)));
        }
      }
    },
  );

  it('ends the run with an error when the server is killed during a task', async () => {
    if ('missing' in found) return;
    const doomed = await startPythonServer(found.python, path('swarm.py'), 2);
    const model = createMAIL({ baseUrl: doomed.url, authToken: 'alice' })('scripted');
    const result = streamText({ model, prompt: 'slow 60', onError: () => undefined, maxRetries: 0 });
    const errors: string[] = [];
    let finishes = 0;
    for await (const part of result.fullStream) {
      if (part.type === 'start-step') doomed.process.kill('SIGKILL');
      if (part.type === 'error') errors.push(String(part.error));
      if (part.type === 'finish-step') finishes += 1;
    }
    expect(errors).toEqual([expect.stringContaining('connection to the MAIL server was lost')]);
    expect(finishes).toBe(1);
  });
});

const answer: CanonicalMessage = {
  id: 'm',
  threadId: 't',
  role: 'assistant',
  type: 'text',
  content: { format: 2, parts: [] },
  createdAt: new Date(0),
};
const control = {
  signal: new AbortController().signal,
  barrier: async () => undefined,
  liveAnswers: (async function* () {})(),
};

function createRun(text: string): RunInput {
  const user = {
    ...answer,
    id: 'u',
    role: 'user' as const,
    content: { format: 2 as const, parts: [{ type: 'text' as const, text }] },
  };
  const ids = { runId: 'r', threadId: 't', messageId: 'm', startedAt: 0 };
  return { ...ids, history: [user], answers: [], tools: [], context: [] };
}

async function readAll(stream: ReadableStream<AgentEvent>): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of iterate(stream)) events.push(event);
  return events;
}

/** The time of the end is that of the reader, because the record does not contain the end of the stream. */
function withoutTimes(events: readonly AgentEvent[]): unknown[] {
  return events.flatMap((event) => (event.type === 'checkpoint' ? [] : [omit(event, 'at')]));
}
