import type { SharedV3ProviderMetadata } from '@ai-sdk/provider';
import { tool, type ToolSet } from 'ai';
import { z } from 'zod';
import { finish, reasoning, streamedCall, text, type ModelPart, type Turn } from './scripted-model.ts';

/** `ends`: outcome for a 1.0 client. `abortAfter`: type of the part after which the run is aborted. */
export type Scenario = {
  name: string;
  turns: Turn[];
  ends: 'success' | 'interrupt' | 'cancelled' | 'error';
  error?: string;
  abortAfter?: string;
  includeRawChunks?: boolean;
};

const city = z.object({ city: z.string() });
const echo = { type: 'object' } as const;

export const tools: ToolSet = {
  weather: tool({ inputSchema: city, execute: async ({ city: name }) => ({ city: name, degrees: 21 }) }),
  ping: tool({ inputSchema: z.object({}), execute: async () => ({ pong: true }) }),
  fail: tool({ inputSchema: city, execute: async (): Promise<string> => Promise.reject(new Error('No such city.')) }),
  silent: tool({ inputSchema: city, execute: async () => undefined }),
  words: tool({ inputSchema: city, execute: async () => 'sunny' }),
  huge: tool({
    inputSchema: city,
    execute: async () => ({ count: 9_007_199_254_740_993n }),
    // AI SDK 7 does not send such a value to a model unchanged.
    toModelOutput: () => ({ type: 'text', value: 'many' }),
  }),
  circle: tool({
    inputSchema: city,
    execute: async () => {
      const round: { [key: string]: unknown } = { name: 'round' };
      return Object.assign(round, { self: round });
    },
    toModelOutput: () => ({ type: 'text', value: 'round' }),
  }),
  progress: tool({
    inputSchema: city,
    async *execute() {
      yield 'loading';
      yield 'half';
      yield 'done';
    },
  }),
  ask: tool({ inputSchema: city }),
  remove: tool({ inputSchema: city, needsApproval: true, execute: async () => 'removed' }),
  search: {
    type: 'provider',
    id: 'scripted.search',
    args: {},
    inputSchema: echo as never,
  } as unknown as ToolSet[string],
};

const paris = '{"city":"Paris"}';
const done: ModelPart[] = [...text('1', 'It is ', '21.'), finish()];
const calls = (...parts: ModelPart[]): ModelPart[] => [...parts, finish('tool-calls')];
const call = (toolName: string, input: string = paris): Turn[] => [calls(...streamedCall('c1', toolName, input)), done];

/** Reasoning that is signed or encrypted by its provider. */
function sealed(id: string, providerMetadata: SharedV3ProviderMetadata): ModelPart[] {
  return [
    { type: 'reasoning-start', id },
    { type: 'reasoning-delta', id, delta: 'Hm' },
    { type: 'reasoning-end', id, providerMetadata },
  ];
}

export const scenarios: Scenario[] = [
  { name: 'text', turns: [[...text('0', 'Hel', 'lo'), finish()]], ends: 'success' },
  { name: 'text-empty-delta', turns: [[...text('0', '', 'Hi', ''), finish()]], ends: 'success' },
  { name: 'text-two-blocks', turns: [[...text('0', 'One.'), ...text('1', 'Two.'), finish()]], ends: 'success' },
  {
    name: 'text-interleaved-blocks',
    turns: [
      [
        { type: 'text-start', id: 'a' },
        { type: 'text-delta', id: 'a', delta: 'A1' },
        { type: 'text-start', id: 'b' },
        { type: 'text-delta', id: 'b', delta: 'B1' },
        { type: 'text-delta', id: 'a', delta: 'A2' },
        { type: 'text-delta', id: 'b', delta: 'B2' },
        { type: 'text-end', id: 'a' },
        { type: 'text-end', id: 'b' },
        finish(),
      ],
    ],
    ends: 'success',
  },
  { name: 'no-content', turns: [[finish()]], ends: 'success' },
  { name: 'reasoning-then-text', turns: [[...reasoning('0', 'Hm', '.'), ...done]], ends: 'success' },
  {
    name: 'reasoning-encrypted',
    turns: [
      calls(
        ...sealed('0', { anthropic: { signature: 'sig-1' } }),
        ...sealed('1', { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'enc-1' } }),
        ...sealed('2', { google: { thoughtSignature: 'thought-1' } }),
        { type: 'tool-input-start', id: 'c1', toolName: 'words' },
        { type: 'tool-input-end', id: 'c1' },
        {
          type: 'tool-call',
          toolCallId: 'c1',
          toolName: 'words',
          input: paris,
          providerMetadata: { google: { thoughtSignature: 'thought-2' } },
        },
      ),
      done,
    ],
    ends: 'success',
  },
  {
    name: 'reasoning-interleaved',
    turns: [
      [
        { type: 'reasoning-start', id: 'r:0' },
        { type: 'reasoning-start', id: 'r:1' },
        { type: 'reasoning-delta', id: 'r:0', delta: 'one' },
        { type: 'reasoning-delta', id: 'r:1', delta: 'two' },
        { type: 'reasoning-end', id: 'r:0' },
        { type: 'reasoning-end', id: 'r:1' },
        ...done,
      ],
    ],
    ends: 'success',
  },
  {
    name: 'tool-streamed',
    turns: [calls(...streamedCall('c1', 'weather', '{"city":', '"Paris"}')), done],
    ends: 'success',
  },
  {
    name: 'text-tool-text',
    turns: [calls(...text('0', 'Let me check.'), ...streamedCall('c1', 'weather', paris)), done],
    ends: 'success',
  },
  {
    name: 'tool-unstreamed',
    turns: [calls({ type: 'tool-call', toolCallId: 'c1', toolName: 'weather', input: paris }), done],
    ends: 'success',
  },
  {
    name: 'tools-parallel-interleaved',
    turns: [
      calls(
        { type: 'tool-input-start', id: 'c1', toolName: 'weather' },
        { type: 'tool-input-start', id: 'c2', toolName: 'words' },
        { type: 'tool-input-delta', id: 'c1', delta: '{"city":' },
        { type: 'tool-input-delta', id: 'c2', delta: '{"city":' },
        { type: 'tool-input-delta', id: 'c1', delta: '"Paris"}' },
        { type: 'tool-input-delta', id: 'c2', delta: '"Rome"}' },
        { type: 'tool-input-end', id: 'c1' },
        { type: 'tool-input-end', id: 'c2' },
        { type: 'tool-call', toolCallId: 'c1', toolName: 'weather', input: paris },
        { type: 'tool-call', toolCallId: 'c2', toolName: 'words', input: '{"city":"Rome"}' },
      ),
      done,
    ],
    ends: 'success',
  },
  {
    name: 'three-steps',
    turns: [
      calls(...reasoning('0', 'plan1'), ...text('1', 'first'), ...streamedCall('c1', 'weather', paris)),
      calls(...reasoning('0', 'plan2'), ...text('1', 'second'), ...streamedCall('c2', 'words', paris)),
      [...text('1', 'third'), finish()],
    ],
    ends: 'success',
  },
  { name: 'tool-empty-args', turns: [calls(...streamedCall('c1', 'ping')), done], ends: 'success' },
  { name: 'tool-error', turns: call('fail'), ends: 'success' },
  { name: 'tool-invalid-input', turns: call('weather', '{"city":5}'), ends: 'success' },
  { name: 'tool-malformed-json', turns: call('weather', '{"city":'), ends: 'success' },
  { name: 'tool-unknown', turns: call('nothing'), ends: 'success' },
  { name: 'tool-void-result', turns: call('silent'), ends: 'success' },
  { name: 'tool-string-result', turns: call('words'), ends: 'success' },
  { name: 'tool-bigint-result', turns: call('huge'), ends: 'success' },
  { name: 'tool-circular-result', turns: call('circle'), ends: 'success' },
  { name: 'tool-preliminary', turns: call('progress'), ends: 'success' },
  { name: 'tool-client-side', turns: call('ask'), ends: 'success' },
  {
    name: 'tool-provider-executed',
    turns: [
      [
        ...text('0', 'Searching.'),
        { type: 'tool-call', toolCallId: 'p1', toolName: 'search', input: '{}', providerExecuted: true },
        { type: 'tool-result', toolCallId: 'p1', toolName: 'search', result: { found: 1 } },
        ...text('1', 'Found.'),
        finish(),
      ],
    ],
    ends: 'success',
  },
  {
    name: 'sources-files',
    turns: [
      [
        { type: 'source', sourceType: 'url', id: 's1', url: 'https://example.com', title: 'Example' },
        { type: 'file', mediaType: 'image/png', data: new Uint8Array([137, 80, 78, 71]) },
        ...done,
      ],
    ],
    ends: 'success',
  },
  {
    name: 'raw-chunks',
    turns: [[{ type: 'raw', rawValue: { id: 'chunk-1' } }, ...done]],
    ends: 'success',
    includeRawChunks: true,
  },
  {
    name: 'error-mid-text',
    turns: [{ parts: text('0', 'Hel').slice(0, 2), last: 'throw' }],
    ends: 'error',
    error: 'The line went dead.',
  },
  {
    name: 'error-mid-tool-input',
    turns: [{ parts: streamedCall('c1', 'weather', '{"ci').slice(0, 2), last: 'throw' }],
    ends: 'error',
    error: 'The line went dead.',
  },
  {
    name: 'error-mid-reasoning',
    turns: [{ parts: reasoning('0', 'Hm').slice(0, 2), last: 'throw' }],
    ends: 'error',
    error: 'The line went dead.',
  },
  {
    name: 'error-object',
    turns: [[...text('0', 'Hel'), { type: 'error', error: { message: 'Overloaded.', status: 529 } }, finish('error')]],
    ends: 'error',
    error: 'Overloaded.',
  },
  { name: 'error-dostream-throws', turns: [{ throws: new Error('No key.') }], ends: 'error', error: 'No key.' },
  {
    name: 'error-step2',
    turns: [calls(...streamedCall('c1', 'weather', paris)), { throws: new Error('No more.') }],
    ends: 'error',
    error: 'No more.',
  },
  {
    name: 'abort-mid-text',
    turns: [{ parts: text('0', 'Hel').slice(0, 2), last: 'hang' }],
    ends: 'cancelled',
    abortAfter: 'text-delta',
  },
  {
    name: 'abort-mid-tool-input',
    turns: [{ parts: streamedCall('c1', 'weather', '{"ci').slice(0, 2), last: 'hang' }],
    ends: 'cancelled',
    abortAfter: 'tool-input-delta',
  },
  {
    name: 'abort-mid-reasoning',
    turns: [{ parts: reasoning('0', 'Hm').slice(0, 2), last: 'hang' }],
    ends: 'cancelled',
    abortAfter: 'reasoning-delta',
  },
  {
    name: 'two-runs-same-provider-ids',
    turns: [[...reasoning('0', 'hm'), ...text('0', 'same'), finish()]],
    ends: 'success',
  },
  { name: 'tool-approval', turns: call('remove'), ends: 'interrupt' },
];
