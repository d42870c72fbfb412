import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { anyText } from '../../test/any-text.ts';
import type { JsonObject } from '../json/json.ts';
import type { MessageInput } from '../store/store.ts';
import { MessageFormatError } from '../json/message-format-error.ts';
import { copyMessage, decodeMessage, encodeMessage } from './message-json.ts';
import type { CanonicalMessage, MessagePart } from '../event/message.ts';

const createdAt = new Date('2024-03-01T10:00:00.123Z');

function message(...parts: MessagePart[]): CanonicalMessage {
  return { id: 'm1', threadId: 't1', role: 'assistant', type: 'text', createdAt, content: { format: 2, parts } };
}

/** Encodes, serializes and parses, as a transfer does. */
function overTheWire(value: CanonicalMessage | MessageInput): unknown {
  return JSON.parse(JSON.stringify(encodeMessage(value)));
}

function failure(json: unknown): MessageFormatError {
  try {
    decodeMessage(json);
  } catch (error) {
    if (error instanceof MessageFormatError) return error;
    throw error;
  }
  throw new Error('The message was accepted.');
}

describe('encodeMessage', () => {
  it('encodes time as ISO and bytes as base64, and omits absent fields', () => {
    const json = encodeMessage({
      ...message(),
      resourceId: undefined,
      content: { format: 2, parts: [{ type: 'file', mimeType: 'text/plain', data: new Uint8Array([104, 105]) }] },
    });
    expect(json).toEqual({
      id: 'm1',
      threadId: 't1',
      role: 'assistant',
      type: 'text',
      createdAt: '2024-03-01T10:00:00.123Z',
      content: { format: 2, parts: [{ type: 'file', mimeType: 'text/plain', data: 'aGk=' }] },
    });
    expect(Object.hasOwn(json, 'resourceId')).toBe(false);
  });

  it('encodes maps, sets and every kind of bytes', () => {
    const { buffer } = new Uint8Array([104, 105]);
    const data = { map: new Map([[1, 2]]), set: new Set([1]), floats: new Float32Array([1, 2]), buffer };
    const json = encodeMessage({
      ...message(),
      content: {
        format: 2,
        parts: [
          { type: 'data', data: data as never },
          { type: 'file', data: buffer },
        ],
      },
    });
    expect(json['content']).toEqual({
      format: 2,
      parts: [
        { type: 'data', data: { map: [[1, 2]], set: [1], floats: [1, 2], buffer: 'aGk=' } },
        { type: 'file', data: 'aGk=' },
      ],
    });
  });

  it('shares nothing with the message', () => {
    const original = { ...message({ type: 'data', data: { list: [1] } }), state: { count: 1 } };
    const json = encodeMessage(original) as { state: JsonObject };
    json.state['count'] = 2;
    expect(original.state.count).toBe(1);
  });

  it('names the path of a value that JSON cannot represent', () => {
    const loop: JsonObject = {};
    loop['self'] = loop;
    expect(() => encodeMessage(message({ type: 'data', data: 1n as never }))).toThrow(
      'content.parts[0].data cannot be stored as JSON (BigInt)',
    );
    expect(() => encodeMessage(message({ type: 'data', data: loop }))).toThrow(
      'content.parts[0].data.self cannot be stored as JSON (circular reference)',
    );
    expect(() => encodeMessage({ ...message(), createdAt: new Date(Number.NaN) })).toThrow(
      'createdAt must be a valid Date',
    );
  });
});

describe('decodeMessage', () => {
  it('is the inverse of encodeMessage', () => {
    const original: CanonicalMessage = {
      ...message(
        { type: 'text', id: 'p1', text: 'Hello', providerMetadata: { openai: { itemId: 'i' } } },
        { type: 'reasoning', reasoning: '', details: [{ signature: 's' }] },
        {
          type: 'tool-invocation',
          toolCallId: 'c1',
          toolName: 'search',
          state: 'call',
          args: { q: null },
          approval: { questionId: 'q1', kind: 'approval', answer: { questionId: 'q1', approved: true } },
        },
        { type: 'question', questionId: 'q2', kind: 'input', schema: { type: 'number' } },
        { type: 'source', sourceType: 'url', url: 'https://example.com' },
        { type: 'interjection', role: 'user', parts: [{ type: 'text', text: 'and this' }] },
      ),
      parentId: 'm0',
      runId: 'r1',
      clientId: 'u1',
      status: 'paused',
      state: null,
      sourceState: { task: 7 },
    };
    expect(decodeMessage(overTheWire(original))).toEqual(original);
  });

  it('keeps every string unchanged, including NUL and lone surrogates', () => {
    fc.assert(
      fc.property(anyText, anyText, (value, key) => {
        const original = { ...message({ type: 'text', text: `\0${value}\uD800` }), state: { [key]: '\uDC00' } };
        expect(decodeMessage(overTheWire(original))).toEqual(original);
      }),
    );
  });

  it('keeps unknown fields and part types', () => {
    const json = encodeMessage(message());
    json['reactions'] = ['👍'];
    json['content'] = { format: 2, parts: [{ type: 'hologram', id: 'h', depth: 3 }], pinned: true };
    const decoded = decodeMessage(json);
    expect(decoded).toMatchObject({ reactions: ['👍'], content: { pinned: true } });
    expect(decoded.content.parts).toEqual([{ type: 'hologram', id: 'h', depth: 3 }]);
  });

  it('treats `__proto__` as an ordinary key', () => {
    const text = JSON.stringify(encodeMessage(message())).replace(
      '"parts"',
      '"metadata":{"__proto__":{"admin":true}},"parts"',
    );
    const decoded = decodeMessage(JSON.parse(text));
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
    expect((decoded.content.metadata as { admin?: boolean }).admin).toBeUndefined();
    expect(JSON.stringify(encodeMessage(decoded).content)).toContain('"__proto__":{"admin":true}');
  });

  it('ignores inherited fields', () => {
    const hidden = Object.create({ threadId: 't1' }) as object;
    const { threadId: _, ...own } = encodeMessage(message());
    expect(failure(Object.assign(hidden, own)).path).toBe('threadId');
  });

  it.each<[string, (json: JsonObject) => unknown, string, string]>([
    ['an array', () => [], '', 'the message: expected an object, found a list of 0.'],
    ['an empty id', (json) => ({ ...json, id: '' }), 'id', 'id: expected a non-empty string, found "".'],
    ['an unknown role', (json) => ({ ...json, role: 'robot' }), 'role', '"system" or "user" or "assistant" or "tool"'],
    [
      'a date without a time',
      (json) => ({ ...json, createdAt: '2024-03-01' }),
      'createdAt',
      'an ISO time with an offset',
    ],
    [
      'content that is not an object',
      (json) => ({ ...json, content: 'hi' }),
      'content',
      'content: expected an object, found "hi".',
    ],
    ['content without a format', (json) => ({ ...json, content: { parts: [] } }), 'content.format', 'format number'],
    [
      'a text part without text',
      withParts({ type: 'text' }),
      'content.parts[0].text',
      'expected a value, found nothing.',
    ],
    [
      'a call with an unknown state',
      withParts({ type: 'tool-invocation', toolCallId: 'c', toolName: 't', state: 'done' }),
      'content.parts[0].state',
      '"partial-call" or "call"',
    ],
    [
      'a file with data and a URL',
      withParts({ type: 'file', data: 'aGk=', url: 'https://example.com' }),
      'content.parts[0]',
      'exactly one of data, url and reference',
    ],
    [
      'a file whose data is a URL',
      withParts({ type: 'file', data: 'https://example.com/a.png' }),
      'content.parts[0].data',
      'expected base64; use `url` for a URL, found "https://example.com/a.png"',
    ],
    [
      'a file whose data is not base64',
      withParts({ type: 'file', data: 'aGk' }),
      'content.parts[0].data',
      'expected base64, padded with "=", found "aGk"',
    ],
    [
      'an invalid part inside an interjection',
      withParts({ type: 'interjection', role: 'user', parts: [{ type: 'text', text: 1 }] }),
      'content.parts[0].parts[0].text',
      'expected a string, found 1',
    ],
  ])('rejects %s and names the path', (_, change, path, text) => {
    const error = failure(change(encodeMessage(message())));
    expect(error.path).toBe(path);
    expect(error.message).toContain(text);
  });

  it('limits the path to 200 characters', () => {
    const long = 'k'.repeat(100_000);
    const wrong = { ...encodeMessage(message()), content: { format: 2, parts: [], agents: { [long]: { name: 1 } } } };
    expect(failure(wrong).path).toHaveLength(200);
    expect(failure(wrong).message.length).toBeLessThan(300);
  });

  it('asks for an upgrade if the format is newer', () => {
    const error = failure({ ...encodeMessage(message()), content: { format: 3, parts: 'of another shape' } });
    expect(error).toMatchObject({ code: 'newer-format', path: 'content.format' });
    expect(error.message).toContain('Upgrade Intertie');
  });

  it('upgrades older formats step by step', () => {
    const json = { ...encodeMessage(message()), content: { format: 0, body: 'hi' } };
    const upgrades = {
      0: ({ body }: JsonObject) => ({ format: 1, content: body! }),
      1: ({ content }: JsonObject) => ({ format: 2, content: content!, parts: [{ type: 'text', text: content! }] }),
    };
    expect(decodeMessage(json, { upgrades }).content).toEqual({
      format: 2,
      content: 'hi',
      parts: [{ type: 'text', text: 'hi' }],
    });
    expect(failure(json)).toMatchObject({ code: 'older-format' });
    expect(() => decodeMessage(json, { upgrades: { 0: upgrades[1] } })).toThrow('`upgrades[0]` must return 1.');
  });
});

describe('copyMessage', () => {
  const date = new Date(0);
  const instance = Object.assign(Object.create({}) as object, message());
  const newer = { ...message({ type: 'text', text: 'hi' }), resourceId: undefined, mood: { date } } as MessageInput;

  it.each<[string, MessageInput]>([
    ['a plain message with undefined and unknown fields', newer],
    ['the first message of a branch', { ...message(), parentId: null }],
    ['a class instance', instance],
  ])('equals decodeMessage(encodeMessage(…)) for %s', (_, input) => {
    const copy = copyMessage(input);
    expect(copy).toStrictEqual(decodeMessage(encodeMessage(input)));
    expect(copy.content.parts).not.toBe(input.content.parts);
    expect(copy.createdAt).not.toBe(input.createdAt);
  });

  it('rejects what encodeMessage and decodeMessage reject', () => {
    const wrong = [{ createdAt: new Date(Number.NaN) }, { id: '' }, { content: { format: 9 } }, { state: 1n }];
    for (const fields of wrong) {
      expect(() => copyMessage({ ...message(), ...fields } as unknown as MessageInput)).toThrow(MessageFormatError);
    }
  });
});

function withParts(...parts: JsonObject[]): (json: JsonObject) => unknown {
  return (json) => ({ ...json, content: { format: 2, parts } });
}
