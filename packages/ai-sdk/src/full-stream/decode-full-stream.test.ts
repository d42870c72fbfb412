import { canonical, check } from '@intertie/conformance';
import {
  compose,
  foldEvents,
  seal,
  transcode,
  type AgentEvent,
  type CanonicalMessage,
  type EventOf,
  type Loss,
  type RunInput,
} from '@intertie/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { call, collect, finish, majors, runInput, scriptedModel, text } from '../../test/scripted-model.ts';
import { createFullStreamDecoder, type FullStreamDecoderOptions } from './decode-full-stream.ts';

type Decoded = { events: AgentEvent[]; message: CanonicalMessage; losses: Loss[]; end: EventOf<'run-end'> };

/** Decodes and seals the parts, and checks the stream invariants of the events. */
function decode(
  parts: readonly unknown[],
  options: FullStreamDecoderOptions = {},
  run: RunInput = runInput(),
): Decoded {
  const losses: Loss[] = [];
  const onLoss = (loss: Loss): void => void losses.push(loss);
  const codec = compose(createFullStreamDecoder(run, { onLoss, ...options }), seal(run, onLoss));
  const events = transcode(codec, parts);
  expect(check(canonical, events).violations).toEqual([]);
  return { events, message: foldEvents(events)!, losses, end: events.at(-1) as EventOf<'run-end'> };
}

const only = <T extends AgentEvent['type']>(events: AgentEvent[], type: T): Array<EventOf<T>> =>
  events.filter((event): event is EventOf<T> => event.type === type);

describe.each(majors)('$name', ({ ai }) => {
  const stream = (
    options: Partial<Parameters<typeof ai.streamText>[0]> & { model: ReturnType<typeof scriptedModel> },
  ) => collect(ai.streamText({ prompt: 'hi', onError: () => undefined, ...options } as never).fullStream);

  test('decodes text with new ids, a step with response and usage, and a complete run', async () => {
    const model = scriptedModel([
      { type: 'stream-start', warnings: [{ type: 'other', message: 'careful' }] },
      { type: 'response-metadata', id: 'r1', modelId: 'scripted-1', timestamp: new Date(0) },
      ...text('0', 'Hel', 'lo'),
      finish(),
    ]);
    const { events, end, message } = decode(await stream({ model }));
    expect(message.content.parts).toEqual([{ type: 'text', text: 'Hello', id: 'run-1:0', stepId: 'run-1:step-0' }]);
    expect(only(events, 'step-start')[0]).toMatchObject({ warnings: [{ type: 'other', message: 'careful' }] });
    expect(only(events, 'step-end')[0]).toMatchObject({
      finishReason: 'stop',
      rawFinishReason: 'stop',
      response: { id: 'r1', modelId: 'scripted-1', timestamp: '1970-01-01T00:00:00.000Z' },
      usage: [{ model: 'scripted-1', inputTokens: 10, outputTokens: 5, cacheReadTokens: 4, reasoningTokens: 2 }],
    });
    expect(end).toMatchObject({ outcome: 'complete', finishReason: 'stop', usage: [{ totalTokens: 15 }] });
  });

  test('merges signatures of reasoning from an empty delta and from its end', async () => {
    const model = scriptedModel([
      { type: 'reasoning-start', id: '0', providerMetadata: { anthropic: { kind: 'thinking' } } },
      { type: 'reasoning-delta', id: '0', delta: 'hm' },
      { type: 'reasoning-delta', id: '0', delta: '', providerMetadata: { anthropic: { signature: 'sig' } } },
      { type: 'reasoning-end', id: '0', providerMetadata: { other: { late: true } } },
      finish(),
    ]);
    const { message } = decode(await stream({ model }));
    expect(message.content.parts[0]).toMatchObject({
      type: 'reasoning',
      reasoning: 'hm',
      providerMetadata: { anthropic: { kind: 'thinking', signature: 'sig' }, other: { late: true } },
    });
  });

  test('assigns different ids to parts that the provider calls "0" in every step', async () => {
    const model = scriptedModel(
      [...text('0', 'a'), call('c', 'echo'), finish('tool-calls')],
      [...text('0', 'b'), finish()],
    );
    const tools = { echo: ai.tool({ inputSchema: z.object({}), execute: async () => 'ok' }) };
    const parts = await stream({ model, tools, stopWhen: ai.stepCountIs(2) });
    const { message, end } = decode(parts, { tools });
    expect(message.content.parts.map(({ id }) => id)).toEqual(['run-1:0', undefined, 'run-1:1']);
    expect(message.content.parts[1]).toMatchObject({ executor: 'runtime', state: 'result', result: 'ok' });
    expect(Object.keys(message.content.steps!)).toEqual(['run-1:step-0', 'run-1:step-1']);
    expect(end.outcome).toBe('complete');
  });

  test('treats a repeated call id as another call', async () => {
    const model = scriptedModel(
      [call('c', 'echo'), finish('tool-calls')],
      [call('c', 'echo'), finish('tool-calls')],
      [finish()],
    );
    const tools = { echo: ai.tool({ inputSchema: z.object({}), execute: async () => 'ok' }) };
    const { message, losses } = decode(await stream({ model, tools, stopWhen: ai.stepCountIs(3) }), { tools });
    expect(message.content.parts).toMatchObject([
      { toolCallId: 'c', state: 'result' },
      { toolCallId: 'run-1:0', state: 'result', providerMetadata: { 'ai-sdk': { toolCallId: 'c' } } },
    ]);
    expect(losses.filter(({ kind }) => kind !== 'withheld')).toEqual([]);
  });

  test('pauses the run for a client tool with streamed input', async () => {
    const model = scriptedModel([
      { type: 'tool-input-start', id: 'c1', toolName: 'ask' },
      { type: 'tool-input-delta', id: 'c1', delta: '{"q":' },
      { type: 'tool-input-delta', id: 'c1', delta: '1}' },
      { type: 'tool-input-end', id: 'c1' },
      call('c1', 'ask', { q: 1 }),
      finish('tool-calls'),
    ]);
    const tools = { ask: ai.tool({ inputSchema: z.object({ q: z.number() }) }) };
    const { events, end, message } = decode(await stream({ model, tools }), { tools });
    expect(end).toMatchObject({ outcome: 'paused', waitingFor: [{ type: 'tool', toolCallId: 'c1' }] });
    expect(message.content.parts).toMatchObject([{ state: 'call', args: { q: 1 }, executor: 'client' }]);
    expect(only(events, 'tool-input-delta').map(({ delta }) => delta)).toEqual(['{"q":', '1}']);
    // The same without a tool set, and for a tool that the client sent.
    expect(decode(await stream({ model, tools })).end.outcome).toBe('paused');
    const brought = decode(await stream({ model, tools }), {}, runInput({ tools: [{ name: 'ask' }] }));
    expect(brought.message.content.parts).toMatchObject([{ executor: 'client' }]);
  });

  test('decodes a failing tool and a preliminary result', async () => {
    const model = scriptedModel([call('a', 'fail'), call('b', 'slow'), finish('tool-calls')]);
    const tools = {
      fail: ai.tool({
        inputSchema: z.object({}),
        execute: async (): Promise<string> => Promise.reject(new Error('no luck')),
      }),
      slow: ai.tool({
        inputSchema: z.object({}),
        async *execute() {
          yield 'half';
          yield 'whole';
        },
      }),
    };
    const { events, message, end } = decode(await stream({ model, tools }), { tools });
    expect(message.content.parts).toMatchObject([
      { state: 'error', error: { message: 'no luck' } },
      { state: 'result', result: 'whole' },
    ]);
    const outputs = only(events, 'tool-result').flatMap((event) => (event.status === 'ok' ? [event] : []));
    expect(outputs.map(({ output, preliminary }) => [output, preliminary])).toEqual([
      ['half', true],
      ['whole', true],
      ['whole', undefined],
    ]);
    expect(end.outcome).toBe('complete');
  });

  test('decodes an invalid call with its error result and its first "dynamic" value', async () => {
    const model = scriptedModel([
      { type: 'tool-input-start', id: 'c1', toolName: 'ask' },
      { type: 'tool-input-end', id: 'c1' },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'ask', input: '{"q": tru' },
      call('c2', 'nobody'),
      finish('tool-calls'),
    ]);
    const tools = { ask: ai.tool({ inputSchema: z.object({ q: z.number() }) }) };
    const parts = await stream({ model, tools });
    expect(parts.find((part) => (part as { type: string }).type === 'tool-call')).toMatchObject({ dynamic: true });
    const { events, message, end } = decode(parts, { tools });
    const [first] = only(events, 'tool-call');
    expect(first?.dynamic).not.toBe(true);
    expect(first?.invalid?.message).toContain('Invalid input for tool ask');
    expect(message.content.parts).toMatchObject([
      { toolCallId: 'c1', state: 'error', invalid: true },
      { toolCallId: 'c2', state: 'error', invalid: true },
    ]);
    expect(end.outcome).toBe('complete');
  });

  test('decodes provider-executed tools with a result, without one, and with an error', async () => {
    const model = scriptedModel([
      { type: 'tool-call', toolCallId: 'p1', toolName: 'search', input: '{}', providerExecuted: true, dynamic: true },
      { type: 'tool-result', toolCallId: 'p1', toolName: 'search', result: [1], dynamic: true },
      { type: 'tool-call', toolCallId: 'p2', toolName: 'search', input: '{}', providerExecuted: true, dynamic: true },
      { type: 'tool-result', toolCallId: 'p2', toolName: 'search', result: { code: 7 }, isError: true, dynamic: true },
      { type: 'tool-call', toolCallId: 'p3', toolName: 'search', input: '{}', providerExecuted: true, dynamic: true },
      finish(),
    ]);
    const { message, end } = decode(await stream({ model }));
    expect(message.content.parts).toMatchObject([
      { toolCallId: 'p1', executor: 'provider', dynamic: true, state: 'result', result: [1] },
      { toolCallId: 'p2', executor: 'provider', state: 'error', error: { data: { code: 7 } } },
      { toolCallId: 'p3', executor: 'provider', state: 'call' },
    ]);
    expect(end.outcome).toBe('complete');
  });

  test('keeps a provider-executed call valid if the SDK marks it as invalid', async () => {
    const model = scriptedModel([
      { type: 'tool-call', toolCallId: 'p1', toolName: 'search', input: '{}', providerExecuted: true },
      { type: 'tool-result', toolCallId: 'p1', toolName: 'search', result: 'found' },
      finish(),
    ]);
    const { message, events } = decode(await stream({ model }));
    expect(message.content.parts).toMatchObject([{ state: 'result', result: 'found' }]);
    expect(only(events, 'notice')).toMatchObject([{ code: 'invalid-call', toolCallId: 'p1' }]);
  });

  test('pauses the run for two approvals while a third tool runs', async () => {
    const model = scriptedModel([call('a', 'risky'), call('b', 'risky'), call('c', 'safe'), finish('tool-calls')]);
    const tools = {
      risky: ai.tool({ inputSchema: z.object({}), needsApproval: true, execute: async () => 'done' }),
      safe: ai.tool({ inputSchema: z.object({}), execute: async () => 'fine' }),
    };
    const { message, end } = decode(await stream({ model, tools }), { tools });
    const [a, b, c] = message.content.parts;
    expect(c).toMatchObject({ state: 'result', result: 'fine' });
    const questions = [a, b].map((part) => (part?.type === 'tool-invocation' ? part.approval!.questionId : ''));
    expect(end).toMatchObject({
      outcome: 'paused',
      waitingFor: questions.map((questionId) => ({ type: 'question', questionId })),
    });
  });

  test('records the input of an approval before its schema transformed it', async () => {
    const model = scriptedModel([call('a', 'risky', { n: '7' }), finish('tool-calls')]);
    const inputSchema = z.object({ n: z.string().transform(Number) });
    const tools = { risky: ai.tool({ inputSchema, needsApproval: true, execute: async () => 'done' }) };
    const { message } = decode(await stream({ model, tools }), { tools });
    expect(message.content.parts[0]).toMatchObject({
      args: { n: 7 },
      approval: { providerMetadata: { 'ai-sdk': { inputSchemaInput: { n: '7' } } } },
    });
  });

  test('ends a failed run with the first error, after its content', async () => {
    const model = scriptedModel([
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta: 'so f' },
      { type: 'error', error: new Error('the provider broke') },
      { type: 'error', error: new Error('a symptom') },
      finish('error'),
    ]);
    const { message, end, events } = decode(await stream({ model }));
    expect(message.content.parts).toMatchObject([{ type: 'text', text: 'so f' }]);
    expect(only(events, 'notice').map(({ message: error }) => error)).toContain('the provider broke');
    expect(end).toMatchObject({ outcome: 'error', error: { message: 'the provider broke' } });
  });

  test('ends the run with an error if the call fails before it streams', async () => {
    const model = scriptedModel([]);
    model.doStream = async () => Promise.reject(new Error('401'));
    expect(decode(await stream({ model })).end).toMatchObject({ outcome: 'error', error: { message: '401' } });
  });

  test('closes a tool input that is aborted, without emitting a call', async () => {
    const abort = new AbortController();
    const model = scriptedModel([]);
    model.doStream = async ({ abortSignal }) => ({
      stream: new ReadableStream({
        start(controller) {
          controller.enqueue({ type: 'tool-input-start', id: 'c', toolName: 'ask' });
          controller.enqueue({ type: 'tool-input-delta', id: 'c', delta: '{"q' });
          abortSignal?.addEventListener('abort', () => controller.error(abortSignal.reason));
        },
      }),
    });
    const parts: unknown[] = [];
    const tools = { ask: ai.tool({ inputSchema: z.object({ q: z.number() }) }) };
    const result = ai.streamText({ model, tools, prompt: 'hi', abortSignal: abort.signal });
    for await (const part of result.fullStream) {
      parts.push(part);
      if (part.type === 'tool-input-delta') abort.abort();
    }
    const { message, end } = decode(parts, { tools });
    expect(message.content.parts).toMatchObject([{ state: 'partial-call', argsText: '{"q' }]);
    expect(end.outcome).toBe('aborted');
  });

  test('reports a truncated stream wherever it is cut', async () => {
    const model = scriptedModel(
      [...text('0', 'a'), call('c', 'echo'), finish('tool-calls')],
      [...text('0', 'b'), finish()],
    );
    const tools = { echo: ai.tool({ inputSchema: z.object({}), execute: async () => 'ok' }) };
    const parts = await stream({ model, tools, stopWhen: ai.stepCountIs(2) });
    for (let cut = 0; cut < parts.length; cut++) {
      expect(decode(parts.slice(0, cut), { tools }).end).toMatchObject({ error: { code: 'truncated' } });
    }
  });

  test('decodes files, sources and raw chunks', async () => {
    const model = scriptedModel([
      { type: 'file', mediaType: 'text/plain', data: new Uint8Array([104, 105]) },
      { type: 'source', sourceType: 'url', id: 's1', url: 'https://example.com/', title: 'Example' },
      { type: 'source', sourceType: 'document', id: 's2', mediaType: 'text/plain', title: 'Notes', filename: 'n.txt' },
      { type: 'raw', rawValue: { chunk: 1 } },
      finish(),
    ]);
    const parts = await stream({ model, includeRawChunks: true });
    const { message, events } = decode(parts);
    expect(message.content.parts).toMatchObject([
      { type: 'file', mimeType: 'text/plain', data: 'aGk=' },
      { type: 'source', sourceType: 'url', url: 'https://example.com/', title: 'Example' },
      { type: 'source', sourceType: 'document', mediaType: 'text/plain', title: 'Notes', filename: 'n.txt' },
    ]);
    expect(only(events, 'raw')).toMatchObject([{ dialect: 'ai-sdk', value: { type: 'raw', rawValue: { chunk: 1 } } }]);
    const quiet = decode(parts, { includeRaw: false });
    expect(only(quiet.events, 'raw')).toEqual([]);
    expect(quiet.losses).toMatchObject([{ kind: 'withheld', what: 'raw' }]);
  });

  test('closes an open text, and reports a delta without its text', async () => {
    const model = scriptedModel([
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta: 'open' },
      { type: 'text-delta', id: '9', delta: 'stray' },
      finish(),
    ]);
    const { message, events } = decode(await stream({ model }));
    expect(message.content.parts).toMatchObject([{ type: 'text', text: 'open' }]);
    expect(only(events, 'raw').map(({ value }) => value)).toMatchObject([{ type: 'text-delta', text: 'stray' }]);
    expect(only(events, 'notice').map(({ code }) => code)).toContain('malformed');
  });

  test('reports a model stream without "finish" as failed, unlike the SDK', async () => {
    const { end, message } = decode(await stream({ model: scriptedModel([...text('0', 'half')]) }));
    expect(end).toMatchObject({ outcome: 'error', error: { code: 'truncated' } });
    expect(message.content.parts).toMatchObject([{ type: 'text', text: 'half' }]);
  });
});

test('decodes the parts that only ai 7 has', () => {
  const parts = [
    { type: 'start' },
    { type: 'steering-message', id: 's', stepNumber: 0, message: { role: 'user', content: 'Use Paris, Texas.' } },
    { type: 'start-step', request: { body: 'secret' }, warnings: [] },
    { type: 'ping' },
    { type: 'text-start', id: '0' },
    { type: 'text-end', id: '0', citations: [{ startIndex: 0 }] },
    { type: 'reasoning-file', file: { base64: 'aGk=', mediaType: 'image/png' } },
    { type: 'custom', kind: 'openai.compaction', providerMetadata: { openai: { itemId: 'i' } } },
    { type: 'tool-call', toolCallId: 'c', toolName: 'risky', input: {} },
    {
      type: 'tool-approval-request',
      approvalId: 'q',
      toolCall: { toolCallId: 'c' },
      isAutomatic: true,
      reason: 'rule',
    },
    {
      type: 'tool-approval-response',
      approvalId: 'q',
      toolCall: { toolCallId: 'c' },
      approved: false,
      reason: 'never',
    },
    { type: 'tool-output-denied', toolCallId: 'c', toolName: 'risky' },
    { type: 'finish-step', finishReason: 'stop', usage: {}, performance: { tokensPerSecond: 3 }, response: {} },
    { type: 'finish', finishReason: 'stop', totalUsage: {} },
    { type: 'late' },
  ];
  const { events, message, losses, end } = decode(parts);
  expect(message.content.parts).toMatchObject([
    { type: 'interjection', role: 'user', parts: [{ type: 'text', text: 'Use Paris, Texas.' }] },
    { type: 'text', citations: [{ startIndex: 0 }] },
    { type: 'file', reasoning: true, data: 'aGk=' },
    { type: 'data', name: 'provider:openai.compaction', data: null, providerMetadata: { openai: { itemId: 'i' } } },
    {
      state: 'denied',
      error: { message: 'never' },
      approval: { automatic: true, reason: 'rule', answer: { approved: false, reason: 'never' } },
    },
  ]);
  expect(only(events, 'step-end')[0]?.providerMetadata).toEqual({ 'ai-sdk': { performance: { tokensPerSecond: 3 } } });
  expect(losses.map(({ kind, what }) => [kind, what])).toEqual([
    ['withheld', 'start-step.request'],
    ['late', 'late'],
  ]);
  expect(end).toMatchObject({ outcome: 'complete' });
  expect(end.usage).toBeUndefined();
});

test('settles calls of the baseline, and keeps the reason of a denial', () => {
  const run = runInput({
    resumes: 'run-0',
    message: {
      format: 2,
      parts: [
        { type: 'tool-invocation', toolCallId: 'a', toolName: 'risky', state: 'call', args: {} },
        {
          type: 'tool-invocation',
          toolCallId: 'b',
          toolName: 'risky',
          state: 'call',
          args: {},
          approval: {
            questionId: 'q',
            kind: 'approval',
            toolCallId: 'b',
            answer: { questionId: 'q', approved: false, reason: 'too risky' },
          },
        },
      ],
    },
  });
  const parts = [
    { type: 'start' },
    { type: 'tool-output-denied', toolCallId: 'b', toolName: 'risky' },
    { type: 'tool-result', toolCallId: 'a', toolName: 'risky', input: {}, output: undefined },
    { type: 'finish', finishReason: 'stop' },
  ];
  const { message } = decode(parts, {}, run);
  expect(message.content.parts).toMatchObject([
    { state: 'result', result: null },
    { state: 'denied', error: { message: 'too risky' } },
  ]);
});

test('passes unknown parts on as raw', () => {
  const { events } = decode([null, 7, { type: 'data-new', a: 1 }, { type: 'tool-result', toolCallId: 'x' }]);
  expect(only(events, 'raw').map(({ value }) => value)).toEqual([
    null,
    7,
    { type: 'data-new', a: 1 },
    { type: 'tool-result', toolCallId: 'x' },
  ]);
});

const types = `
  start start-step finish-step finish abort error raw ping custom source file
  text-start text-delta text-end reasoning-start reasoning-delta reasoning-end reasoning-file
  tool-input-start tool-input-delta tool-input-end tool-call tool-result tool-error tool-output-denied
  tool-approval-request tool-approval-response steering-message unheard-of
`
  .trim()
  .split(/\s+/);

test('accepts an id that cannot be converted to a string', () => {
  const parts = ['text-delta', 'tool-input-end', 'tool-result'].map((type) => ({
    type,
    id: { toString: '' },
    toolCallId: { toString: '' },
  }));
  const notices = decode(parts).events.filter(({ type }) => type === 'notice');
  expect(notices).toHaveLength(3);
});

test('accepts any part in any order with any fields', () => {
  const name = fc.constantFrom('0', '1', '');
  const part = fc.record(
    {
      type: fc.constantFrom(...types),
      id: fc.oneof(name, fc.anything()),
      toolCallId: name,
      toolName: fc.oneof(name, fc.anything()),
      approvalId: name,
      toolCall: fc.oneof(fc.record({ toolCallId: name }), fc.anything()),
      text: fc.oneof(fc.string(), fc.anything()),
      delta: fc.anything(),
      input: fc.anything(),
      output: fc.anything({ withBigInt: true, withDate: true, withMap: true }),
      error: fc.anything(),
      invalid: fc.boolean(),
      preliminary: fc.boolean(),
      providerExecuted: fc.option(fc.boolean(), { nil: undefined }),
      providerMetadata: fc.anything(),
      file: fc.anything(),
      message: fc.anything(),
      usage: fc.anything(),
      finishReason: fc.anything(),
    },
    { requiredKeys: ['type'] },
  );
  fc.assert(
    fc.property(fc.array(fc.oneof({ weight: 20, arbitrary: part }, fc.anything())), (parts) => {
      expect(decode(parts).events.at(-1)?.type).toBe('run-end');
    }),
  );
});

test('omits usage that is not reported', () => {
  const { end } = decode([{ type: 'finish', finishReason: 'stop', totalUsage: { inputTokens: 0, raw: undefined } }]);
  expect(end.usage).toEqual([{ inputTokens: 0 }]);
});

test('maps an unknown finish reason to "other"', () => {
  const { end } = decode([{ type: 'finish', finishReason: 'tired', rawFinishReason: 'tired' }]);
  expect(end).toMatchObject({ outcome: 'complete', finishReason: 'other', rawFinishReason: 'tired' });
});
