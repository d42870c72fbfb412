import { describe, expect, it } from 'vitest';
import { isValidChunk } from '../../../test/reduce-ui-chunks.ts';
import type { UIMessageVersion } from './ui-message-chunk.ts';
import { isUIMessageChunk, isUIMessageChunkType, validateUIMessageChunk } from './validate-ui-message-chunk.ts';

const meta = { providerMetadata: { maker: { a: [1, null, { b: undefined }] } } };
const call = {
  toolCallId: 'c',
  toolName: 't',
  providerExecuted: true,
  dynamic: false,
  title: 'T',
  toolMetadata: { a: 1 },
};
const citation = {
  source: {
    type: 'source',
    sourceType: 'document',
    id: '1',
    mediaType: 'text/plain',
    title: 'T',
    filename: 'f',
    ...meta,
  },
  startIndex: 0,
  endIndex: 3,
  citedText: 'abc',
};

/** One chunk of every type with all fields. */
const fullChunks: Array<[version: UIMessageVersion, chunk: object]> = [
  [6, { type: 'start', messageId: 'm', messageMetadata: 1 }],
  [6, { type: 'finish', finishReason: 'stop', messageMetadata: null }],
  [6, { type: 'abort', reason: 'r' }],
  [6, { type: 'error', errorText: 'e' }],
  [6, { type: 'message-metadata', messageMetadata: undefined }],
  [6, { type: 'start-step' }],
  [6, { type: 'finish-step' }],
  [6, { type: 'text-start', id: 'a', ...meta }],
  [6, { type: 'text-delta', id: 'a', delta: 'd', ...meta }],
  [6, { type: 'text-end', id: 'a', ...meta }],
  [6, { type: 'reasoning-start', id: 'a', ...meta }],
  [6, { type: 'reasoning-delta', id: 'a', delta: 'd', ...meta }],
  [6, { type: 'reasoning-end', id: 'a', ...meta }],
  [6, { type: 'tool-input-start', ...call, inputEncoding: 'text', ...meta }],
  [6, { type: 'tool-input-delta', toolCallId: 'c', inputTextDelta: 'd' }],
  [6, { type: 'tool-input-available', ...call, input: undefined, ...meta }],
  [6, { type: 'tool-input-error', ...call, input: null, errorText: 'e', ...meta }],
  [
    6,
    {
      type: 'tool-approval-request',
      approvalId: 'q',
      toolCallId: 'c',
      approvalDescriptor: 1,
      inputSchemaInput: 2,
      signature: 's',
    },
  ],
  [6, { type: 'tool-output-available', ...call, output: 1, preliminary: true, ...meta }],
  [6, { type: 'tool-output-error', ...call, errorText: 'e', ...meta }],
  [6, { type: 'tool-output-denied', toolCallId: 'c' }],
  [6, { type: 'source-url', sourceId: 's', url: 'u', title: 't', ...meta }],
  [6, { type: 'source-document', sourceId: 's', mediaType: 'm', title: 't', filename: 'f', ...meta }],
  [6, { type: 'file', url: 'u', mediaType: 'm', ...meta }],
  [6, { type: 'data-', id: 'i', data: 1, transient: true }],
  [7, { type: 'text-end', id: 'a', citations: [citation], ...meta }],
  [7, { type: 'finish', finishReason: 'interrupted' }],
  [7, { type: 'tool-approval-request', approvalId: 'q', toolCallId: 'c', reason: 'r', isAutomatic: true }],
  [
    7,
    { type: 'tool-approval-response', approvalId: 'q', approved: true, reason: 'r', providerExecuted: true, ...meta },
  ],
  [7, { type: 'custom', kind: 'k', ...meta }],
  [7, { type: 'reasoning-file', url: 'u', mediaType: 'm', ...meta }],
  [
    7,
    {
      type: 'steering-message',
      id: 'i',
      parts: [
        { type: 'text', text: 't', ...meta },
        { type: 'file', mediaType: 'm', url: 'u', filename: 'f', providerReference: { a: 'b' }, ...meta },
      ],
    },
  ],
  [7, { type: 'reset-step' }],
];

/** Invalid replacements for a field. */
const wrong: unknown[] = [
  undefined,
  null,
  0,
  -1,
  1.5,
  Number.NaN,
  '',
  'unknown',
  true,
  [],
  [undefined],
  Array.from({ length: 2 }),
  {},
  { a: 1 },
  { a: {} },
  { a: { b: undefined, c: [Number.NaN] } },
  { a: { b: new Date(0) } },
  { a: new Map() },
  { a: { constructor: 1 } },
  { a: { constructor: { prototype: {} } } },
  JSON.parse('{"__proto__":5,"a":{"__proto__":5}}'),
  Object.create(null),
  () => 1,
  [{}],
  [{ source: {} }],
  [{ type: 'text' }],
  [{ type: 'file', url: '', mediaType: '', providerReference: { a: 1 } }],
  10n,
];

/** The chunk, and its variants with one field, also a nested one, replaced or removed. */
function variants(chunk: object): object[] {
  const all: object[] = [chunk];
  for (const key of Object.keys(chunk)) {
    const { [key as never]: value, ...without } = chunk;
    all.push(without);
    for (const other of wrong) all.push({ ...chunk, [key]: other });
    const inner: unknown = Array.isArray(value) ? (value as unknown[])[0] : undefined;
    if (typeof inner !== 'object' || inner === null) continue;
    for (const variant of variants(inner)) all.push({ ...chunk, [key]: [variant] });
  }
  if ('source' in chunk) for (const source of variants(chunk.source as object)) all.push({ ...chunk, source });
  return all;
}

describe.each([6, 7] as const)('validator and schema of ai %i', (version) => {
  it.each(fullChunks)('agrees with the schema on every variant (chunk of %i, %j)', async (since, chunk) => {
    expect(isUIMessageChunk(chunk, since)).toBe(true);
    for (const variant of variants(chunk)) {
      const problem = validateUIMessageChunk(variant, version);
      expect([variant, problem === undefined]).toEqual([variant, await isValidChunk(version, variant)]);
    }
  });

  it('agrees with the schema on values that are not chunks', async () => {
    for (const value of wrong) {
      expect(isUIMessageChunk(value, version)).toBe(await isValidChunk(version, value));
      expect(isUIMessageChunk({ type: value }, version)).toBe(await isValidChunk(version, { type: value }));
    }
  });

  it('differs from the schema only on symbols in metadata, which JSON cannot contain', async () => {
    const chunk = { type: 'text-start', id: 'a', providerMetadata: { maker: { [Symbol('s')]: 1 } } };
    expect(isUIMessageChunk(chunk, version)).toBe(true);
    expect(await isValidChunk(version, chunk)).toBe(false);
    expect(await isValidChunk(version, JSON.parse(JSON.stringify(chunk)))).toBe(true);
  });

  it('ignores inherited fields', async () => {
    const inherits = (own: object): object => Object.assign(Object.create({ bad: () => 1 }) as object, own);
    const chunk = { type: 'text-start', id: 'a', providerMetadata: inherits({ maker: inherits({ a: 1 }) }) };
    expect(isUIMessageChunk(chunk, version)).toBe(true);
    expect(await isValidChunk(version, chunk)).toBe(true);
  });

  it('accepts unknown fields', async () => {
    expect(isUIMessageChunk({ type: 'start-step', more: 1 }, version)).toBe(true);
    expect(await isValidChunk(version, { type: 'start-step', more: 1 })).toBe(true);
  });
});

it('returns the path and the problem', () => {
  expect(validateUIMessageChunk({ type: 'text-delta', id: 'a' })).toEqual({
    path: 'delta',
    message: 'must be a string',
  });
  expect(validateUIMessageChunk({ type: 'data-x' })?.message).toContain('write null');
  expect(validateUIMessageChunk({ type: 'custom', kind: 'a.b' })?.message).toContain('custom');
  expect(validateUIMessageChunk({ type: 'finish', finishReason: 'interrupted' })?.path).toBe('finishReason');
  expect(validateUIMessageChunk({ type: 'text-start', id: 'a', providerMetadata: { foo: 'bar' } })?.path).toBe(
    'providerMetadata',
  );
});

it('knows the chunk types of each version', () => {
  for (const [version, { type }] of fullChunks as Array<[UIMessageVersion, { type: string }]>) {
    expect(isUIMessageChunkType(type, version)).toBe(true);
  }
  expect(isUIMessageChunkType('custom', 6)).toBe(false);
  expect(isUIMessageChunkType('run-start', 7)).toBe(false);
});

it('rejects deeply nested metadata without overflowing the stack', () => {
  let deep: unknown = 1;
  for (let depth = 0; depth < 100_000; depth += 1) deep = { deep };
  expect(isUIMessageChunk({ type: 'text-start', id: 'a', providerMetadata: { maker: { deep } } })).toBe(false);
});
