import type { LanguageModelV3, LanguageModelV3StreamPart } from '@ai-sdk/provider';
import { canonical, check } from '@intertie/conformance';
import { arbitraryContinuation, arbitraryRun, type ArbitraryRun } from '@intertie/conformance/arbitraries';
import { compose, seal, transcode, type AgentEvent, type EventOf, type Loss } from '@intertie/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { collect, majors, runInput, createStream } from '../../test/scripted-model.ts';
import { createFullStreamDecoder } from '../full-stream/decode-full-stream.ts';
import { createLanguageModelV3Encoder, type LanguageModelV3EncoderOptions } from './encode-language-model-v3.ts';
import { generateFromEvents } from './generate-from-events.ts';

const sealed = ({ run, events, end }: ArbitraryRun): AgentEvent[] =>
  transcode(
    seal(run, () => undefined),
    events,
    end,
  );
const createRun = (...events: AgentEvent[]): AgentEvent[] =>
  sealed({ run: runInput(), events, end: { reason: 'eof' } });
const complete: AgentEvent = { type: 'run-end', outcome: 'complete' };

/** A model that replays a run, as a provider package does with the stream of its server. */
function createModel(events: AgentEvent[], options: LanguageModelV3EncoderOptions = {}): LanguageModelV3 {
  return {
    specificationVersion: 'v3',
    provider: 'intertie.test',
    modelId: 'tape',
    supportedUrls: {},
    doStream: async ({ tools = [] }) => ({
      stream: createStream(
        transcode(createLanguageModelV3Encoder({ tools: tools.map(({ name }) => name), ...options }), events),
      ),
    }),
    doGenerate: async ({ tools = [] }) =>
      generateFromEvents(events, { tools: tools.map(({ name }) => name), ...options }),
  };
}

function encode(events: AgentEvent[], options: LanguageModelV3EncoderOptions = {}) {
  const losses: Loss[] = [];
  const onLoss = (loss: Loss): void => void losses.push(loss);
  const parts = transcode(createLanguageModelV3Encoder({ onLoss, ...options }), events);
  return { parts, losses, finish: parts.at(-1) as Extract<LanguageModelV3StreamPart, { type: 'finish' }> };
}

const everything = createRun(
  { type: 'agent-start', agentId: 'a', name: 'researcher', kind: 'agent' },
  { type: 'step-start', stepId: 's', agentId: 'a' },
  { type: 'reasoning-start', id: 'r', providerMetadata: { anthropic: { kind: 'thinking' } } },
  { type: 'reasoning-delta', id: 'r', delta: 'hm' },
  { type: 'reasoning-end', id: 'r', providerMetadata: { anthropic: { signature: 'sig' } } },
  { type: 'text-start', id: 't', agentId: 'a', stepId: 's' },
  { type: 'text-delta', id: 't', delta: 'Look' },
  { type: 'text-delta', id: 't', delta: 'ing.' },
  { type: 'text-end', id: 't', providerMetadata: { openai: { itemId: 'i' } } },
  { type: 'text-start', id: 'i', internal: true },
  { type: 'text-delta', id: 'i', delta: 'psst' },
  { type: 'text-end', id: 'i' },
  { type: 'tool-input-start', toolCallId: 'c', toolName: 'search', executor: 'runtime' },
  { type: 'tool-input-delta', toolCallId: 'c', delta: '{"q":1}' },
  { type: 'tool-input-end', toolCallId: 'c' },
  { type: 'tool-call', toolCallId: 'c', toolName: 'search', executor: 'runtime', input: { q: 1 } },
  { type: 'tool-result', toolCallId: 'c', status: 'ok', output: 'half', preliminary: true },
  { type: 'tool-result', toolCallId: 'c', status: 'ok', output: null },
  { type: 'tool-call', toolCallId: 'd', toolName: 'fail', executor: 'provider', input: {} },
  { type: 'tool-result', toolCallId: 'd', status: 'error', error: { message: 'broke', code: 'E1' } },
  { type: 'tool-call', toolCallId: 'e', toolName: 'risky', executor: 'runtime', input: {} },
  { type: 'tool-result', toolCallId: 'e', status: 'denied', reason: 'no' },
  { type: 'source', id: 'src', sourceType: 'url', url: 'https://example.com/', title: 'Example' },
  { type: 'file', id: 'f', mimeType: 'text/plain', data: 'aGk=' },
  { type: 'file', id: 'g', url: 'https://example.com/a.png' },
  { type: 'data', id: 'n', name: 'note', data: { list: [] } },
  { type: 'data-delta', id: 'n', patch: [{ op: 'add', path: '/list/-', value: 1 }] },
  { type: 'state-snapshot', state: { n: 0 } },
  { type: 'state-delta', patch: [{ op: 'replace', path: '/n', value: 1 }] },
  { type: 'notice', level: 'warning', message: 'slow', code: 'slow' },
  { type: 'metadata', metadata: { taskId: 7 } },
  {
    type: 'step-end',
    stepId: 's',
    response: { id: 'resp', modelId: 'm', timestamp: '1970-01-01T00:00:00.000Z' },
    usage: [{ inputTokens: 10, cacheReadTokens: 4, outputTokens: 5, reasoningTokens: 2 }],
  },
  { type: 'run-end', outcome: 'complete', resume: { task: 't1' }, providerMetadata: { mail: { taskId: 't1' } } },
);

test('encodes each event as a part', () => {
  const { parts, losses, finish } = encode(everything, { warnings: [{ type: 'other', message: 'careful' }] });
  const intertie = { id: 't', agentId: 'a', stepId: 's', agent: 'researcher' };
  expect(parts.slice(0, -1)).toEqual([
    { type: 'stream-start', warnings: [{ type: 'other', message: 'careful' }] },
    { type: 'reasoning-start', id: 'r', providerMetadata: { anthropic: { kind: 'thinking' }, intertie: { id: 'r' } } },
    { type: 'reasoning-delta', id: 'r', delta: 'hm' },
    {
      type: 'reasoning-end',
      id: 'r',
      providerMetadata: { anthropic: { kind: 'thinking', signature: 'sig' }, intertie: { id: 'r' } },
    },
    { type: 'text-start', id: 't', providerMetadata: { intertie } },
    { type: 'text-delta', id: 't', delta: 'Look' },
    { type: 'text-delta', id: 't', delta: 'ing.' },
    { type: 'text-end', id: 't', providerMetadata: { intertie, openai: { itemId: 'i' } } },
    expect.objectContaining({
      type: 'tool-input-start',
      id: 'c',
      toolName: 'search',
      providerExecuted: true,
      dynamic: true,
    }),
    { type: 'tool-input-delta', id: 'c', delta: '{"q":1}' },
    { type: 'tool-input-end', id: 'c' },
    expect.objectContaining({
      type: 'tool-call',
      toolCallId: 'c',
      input: '{"q":1}',
      providerExecuted: true,
      dynamic: true,
    }),
    { type: 'tool-result', toolCallId: 'c', toolName: 'search', result: '', dynamic: true },
    expect.objectContaining({ type: 'tool-call', toolCallId: 'd', input: '{}', providerExecuted: true, dynamic: true }),
    {
      type: 'tool-result',
      toolCallId: 'd',
      toolName: 'fail',
      result: { message: 'broke', code: 'E1' },
      isError: true,
      dynamic: true,
    },
    expect.objectContaining({ type: 'tool-call', toolCallId: 'e' }),
    {
      type: 'tool-result',
      toolCallId: 'e',
      toolName: 'risky',
      result: 'no',
      isError: true,
      dynamic: true,
      providerMetadata: { intertie: { denied: true } },
    },
    expect.objectContaining({ type: 'source', sourceType: 'url', url: 'https://example.com/', title: 'Example' }),
    expect.objectContaining({ type: 'file', mediaType: 'text/plain', data: 'aGk=' }),
    expect.objectContaining({ type: 'source', sourceType: 'url', url: 'https://example.com/a.png' }),
    { type: 'response-metadata', id: 'resp', modelId: 'm', timestamp: new Date(0) },
  ]);
  expect(finish).toEqual({
    type: 'finish',
    finishReason: { unified: 'stop', raw: undefined },
    usage: {
      inputTokens: { total: 10, noCache: 6, cacheRead: 4, cacheWrite: undefined },
      outputTokens: { total: 5, text: 3, reasoning: 2 },
    },
    providerMetadata: {
      mail: { taskId: 't1' },
      intertie: {
        outcome: 'complete',
        agents: { a: { name: 'researcher', kind: 'agent' } },
        metadata: { taskId: 7 },
        state: { n: 1 },
        data: { note: { list: [1] } },
        notices: [{ level: 'warning', message: 'slow', code: 'slow' }],
        resume: { task: 't1' },
      },
    },
  });
  expect(losses.map(({ kind, what }) => `${kind} ${what}`)).toEqual([
    'withheld text-start',
    'withheld preliminary result',
    'unsupported data',
    'unsupported state',
    'unsupported notice',
  ]);
});

test('includes internal content unchanged or as reasoning', () => {
  const types = (includeInternal: boolean | 'reasoning'): string[] =>
    encode(everything, { includeInternal }).parts.flatMap((part) =>
      'id' in part && part.id === 'i' ? [part.type] : [],
    );
  expect(types(true)).toEqual(['text-start', 'text-delta', 'text-end']);
  expect(types('reasoning')).toEqual(['reasoning-start', 'reasoning-delta', 'reasoning-end']);
});

test('holds back streamed input until its executor is known', () => {
  const input: AgentEvent[] = [
    { type: 'tool-input-start', toolCallId: 'c', toolName: 'ask' },
    { type: 'tool-input-delta', toolCallId: 'c', delta: '{}' },
    { type: 'tool-input-end', toolCallId: 'c' },
  ];
  const call: AgentEvent = { type: 'tool-call', toolCallId: 'c', toolName: 'ask', input: {}, executor: 'client' };
  const encoder = createLanguageModelV3Encoder();
  const parts: LanguageModelV3StreamPart[] = [];
  for (const event of input) encoder.feed(event, (part) => parts.push(part));
  expect(parts.map(({ type }) => type)).toEqual(['stream-start']);
  encoder.feed(call, (part) => parts.push(part));
  expect(parts.slice(1)).toEqual([
    expect.objectContaining({ type: 'tool-input-start', id: 'c' }),
    { type: 'tool-input-delta', id: 'c', delta: '{}' },
    { type: 'tool-input-end', id: 'c' },
    expect.objectContaining({ type: 'tool-call', toolCallId: 'c', input: '{}' }),
  ]);
  expect(parts[1]).not.toHaveProperty('providerExecuted');
  // With the caller's tools known, nothing is held back.
  expect(encode(createRun(...input, complete), { tools: ['ask'] }).parts.map(({ type }) => type)).toContain(
    'tool-input-delta',
  );
});

test('skips results of the baseline, which would corrupt the SDK’s history', () => {
  const run = runInput({
    resumes: 'run-0',
    message: {
      format: 2,
      parts: [{ type: 'tool-invocation', toolCallId: 'c', toolName: 'ask', state: 'call', args: {} }],
    },
    answers: [{ toolCallId: 'c', status: 'ok', output: 1 }],
  });
  const { parts, losses } = encode(sealed({ run, events: [complete], end: { reason: 'eof' } }));
  expect(parts.map(({ type }) => type)).toEqual(['stream-start', 'finish']);
  expect(losses).toMatchObject([{ kind: 'withheld', what: 'tool-result', id: 'c' }]);
});

test.each<[string, AgentEvent[], object]>([
  ['complete', [complete], { unified: 'stop', raw: undefined }],
  ['cut', [{ ...complete, finishReason: 'length', rawFinishReason: 'max' }], { unified: 'length', raw: 'max' }],
  ['aborted', [{ type: 'run-end', outcome: 'aborted' }], { unified: 'other', raw: 'aborted' }],
  [
    'paused for a caller’s tool',
    [
      { type: 'tool-call', toolCallId: 'c', toolName: 'ask', input: {}, executor: 'client' },
      { type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'tool', toolCallId: 'c' }] },
    ],
    { unified: 'tool-calls', raw: 'paused' },
  ],
  [
    'paused for the next message',
    [{ type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'message' }] }],
    { unified: 'stop', raw: 'paused' },
  ],
  ['never ended', [], { unified: 'error', raw: 'truncated' }],
])('returns the finish reason of a run that is %s', (_, events, finishReason) => {
  expect(encode(createRun(...events)).finish).toMatchObject({ type: 'finish', finishReason });
});

test('writes one finish with the metadata after an error', () => {
  const error = { message: 'The swarm failed.', code: 'swarm', retryable: true };
  const { parts, finish } = encode(
    createRun({ type: 'run-end', outcome: 'error', error, providerMetadata: { mail: { taskId: 't' } } }),
  );
  expect(parts.map(({ type }) => type)).toEqual(['stream-start', 'error', 'finish']);
  const emitted = (parts[1] as { error: unknown }).error;
  expect(emitted).toBeInstanceOf(Error);
  expect(emitted).toMatchObject(error);
  expect(finish).toMatchObject({ finishReason: { unified: 'error' }, providerMetadata: { mail: { taskId: 't' } } });
});

const arbitrary = fc.oneof(
  arbitraryRun(),
  arbitraryContinuation().map(({ continued }) => continued),
);

test('encodes a prefix of the events to a prefix of the parts', () => {
  fc.assert(
    fc.property(arbitrary, fc.nat(), (run, at) => {
      const events = sealed(run);
      const feed = (some: AgentEvent[]): LanguageModelV3StreamPart[] => {
        const parts: LanguageModelV3StreamPart[] = [];
        const encoder = createLanguageModelV3Encoder();
        for (const event of some) encoder.feed(event, (part) => parts.push(part));
        return parts;
      };
      const whole = feed(events);
      const prefix = feed(events.slice(0, at % (events.length + 1)));
      expect(JSON.stringify(whole.slice(0, prefix.length))).toBe(JSON.stringify(prefix));
    }),
  );
});

describe.each(majors)('$name', ({ ai }) => {
  test('encodes every run to parts that streamText accepts', async () => {
    await fc.assert(
      fc.asyncProperty(arbitrary, async (run) => {
        const events = sealed(run);
        const result = ai.streamText({ model: createModel(events), prompt: 'hi', onError: () => undefined });
        const parts = await collect(result.fullStream);
        const failures = parts.flatMap((part) => (part.type === 'error' ? [String(part.error)] : []));
        const end = events.at(-1) as EventOf<'run-end'>;
        expect(failures).toEqual(end.outcome === 'error' ? [`Error: ${end.error.message}`] : []);
        const decoded = transcode(
          compose(
            createFullStreamDecoder(runInput()),
            seal(runInput(), () => undefined),
          ),
          parts,
        );
        expect(check(canonical, decoded).violations).toEqual([]);
        expect(joinTexts(decoded)).toBe(joinTexts(events));
      }),
      { numRuns: 60 },
    );
  });

  test('lets streamText show tools of the run and run tools of the caller', async () => {
    const events = createRun(
      { type: 'tool-call', toolCallId: 'c', toolName: 'search', executor: 'runtime', input: {} },
      { type: 'tool-result', toolCallId: 'c', status: 'ok', output: 'found' },
      { type: 'tool-call', toolCallId: 'd', toolName: 'ask', executor: 'client', input: { q: 1 } },
      { type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'tool', toolCallId: 'd' }] },
    );
    const tools = { ask: ai.tool({ inputSchema: z.object({ q: z.number() }), execute: async ({ q }) => q + 1 }) };
    const result = ai.streamText({ model: createModel(events), prompt: 'hi', tools });
    const parts = await collect(result.fullStream);
    expect(parts.filter(({ type }) => type === 'tool-result')).toMatchObject([
      { toolCallId: 'c', output: 'found', providerExecuted: true, dynamic: true },
      { toolCallId: 'd', output: 2 },
    ]);
    expect(await result.finishReason).toBe('tool-calls');
    const lonely = await collect(ai.streamText({ model: createModel(events), prompt: 'hi' }).fullStream);
    expect(lonely.filter(({ type }) => type === 'tool-call')).not.toContainEqual(
      expect.objectContaining({ invalid: true }),
    );
  });

  test('lets streamText ask for approval of a call of the run', async () => {
    const events = createRun(
      { type: 'tool-call', toolCallId: 'c', toolName: 'risky', executor: 'runtime', input: {} },
      { type: 'question', questionId: 'q', kind: 'approval', toolCallId: 'c', reason: 'dangerous' },
      { type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'question', questionId: 'q' }] },
    );
    const parts = await collect(ai.streamText({ model: createModel(events), prompt: 'hi' }).fullStream);
    expect(parts).toContainEqual(expect.objectContaining({ type: 'tool-approval-request', approvalId: 'q' }));
    expect(parts.map(({ type }) => type)).not.toContain('error');
  });

  test('returns the same content from generateText as from the stream', async () => {
    const result = await ai.generateText({ model: createModel(everything), prompt: 'hi' });
    expect(result.text).toBe('Looking.');
    expect(result.reasoningText).toBe('hm');
    expect(result.providerMetadata).toMatchObject({ mail: { taskId: 't1' }, intertie: { state: { n: 1 } } });
    expect(result.usage).toMatchObject({ inputTokens: 10, outputTokens: 5 });
    expect(result.response).toMatchObject({ id: 'resp', modelId: 'm' });
    expect(result.sources).toHaveLength(2);
    expect(result.files).toHaveLength(1);
    const streamed = ai.streamText({ model: createModel(everything), prompt: 'hi' });
    await streamed.consumeStream();
    expect(await streamed.text).toBe('Looking.');
    expect(await streamed.providerMetadata).toEqual(result.providerMetadata);
    const kinds = (content: ReadonlyArray<{ type: string }>): string[] => content.map(({ type }) => type).toSorted();
    expect(kinds(result.content)).toEqual(kinds(await streamed.content));
  });

  test('rejects generateText with the run’s error', async () => {
    const failed = createRun({ type: 'run-end', outcome: 'error', error: { message: 'The swarm failed.' } });
    await expect(ai.generateText({ model: createModel(failed), prompt: 'hi', maxRetries: 0 })).rejects.toThrow(
      'The swarm failed.',
    );
  });

  test('produces response messages that streamText accepts as a prompt', async () => {
    const result = ai.streamText({ model: createModel(everything), prompt: 'hi' });
    await result.consumeStream();
    const { messages } = await result.response;
    const again = ai.streamText({
      model: createModel(everything),
      messages: [{ role: 'user', content: 'hi' }, ...messages, { role: 'user', content: 'more' }],
    });
    await again.consumeStream();
    expect(await again.text).toBe('Looking.');
  });
});

/** The texts that the run streamed, without the baseline, which is in the caller's prompt. */
function joinTexts(events: AgentEvent[]): string {
  const texts = new Map<string, string>();
  for (const event of events) {
    if (event.type === 'text-start' && !event.internal) texts.set(event.id, '');
    if (event.type !== 'text-delta') continue;
    const before = texts.get(event.id);
    if (before !== undefined) texts.set(event.id, before + event.delta);
  }
  return [...texts.values()].filter((text) => text !== '').join('|');
}
