import { describe, expect, it } from 'vitest';
import { runInput } from '../../test/run-input.ts';
import type { CanonicalMessage, MessagePart, ToolPart } from './message.ts';
import { createPartIds } from './part-ids.ts';
import type { RunInput } from './run-input.ts';

function runWith(history: MessagePart[][], message?: MessagePart[]): RunInput {
  return runInput({
    runId: 'r',
    history: history.map((parts, index): CanonicalMessage => ({
      id: `m${index}`,
      threadId: 'thread',
      role: 'assistant',
      type: 'text',
      content: { format: 2, parts },
      createdAt: new Date(0),
    })),
    ...(message && { message: { format: 2, parts: message } }),
  });
}

const call = (toolCallId: string): ToolPart => ({ type: 'tool-invocation', toolCallId, toolName: 'x', state: 'call' });

describe('createPartIds', () => {
  it('numbers the parts of a run', () => {
    const ids = createPartIds(runWith([]));
    expect([ids.next(), ids.next(), ids.next()]).toEqual(['r:0', 'r:1', 'r:2']);
  });

  it('skips ids that the thread already uses', () => {
    const inside: MessagePart = {
      type: 'interjection',
      role: 'user',
      parts: [{ type: 'text', id: 'r:1', text: '' }],
    };
    const ids = createPartIds(runWith([[{ type: 'text', id: 'r:0', text: '' }, inside]], [call('r:2')]));
    expect(ids.open('r:3')).toBe('r:3');
    expect(ids.next()).toBe('r:4');
  });

  it('keeps a wire id that is unique in the thread', () => {
    const ids = createPartIds(runWith([[call('call_1')]]));
    expect(ids.open('call_2')).toBe('call_2');
    expect(ids.of('call_2')).toBe('call_2');
  });

  it.each([
    ['a call of the history', [[call('0')]], undefined],
    ['a part of the history', [[{ type: 'text', id: '0', text: '' } satisfies MessagePart]], undefined],
    ['a call of the continued message', [], [call('0')]],
  ])('replaces a wire id that is used by %s', (_, history, message) => {
    const ids = createPartIds(runWith(history, message));
    expect(ids.open('0')).toBe('r:0');
    expect(ids.of('0')).toBe('r:0');
  });

  it('gives a reopened wire id a new id, and resolves later references to it', () => {
    const ids = createPartIds(runWith([]));
    expect(ids.open('a')).toBe('a');
    expect(ids.open('a')).toBe('r:0');
    expect(ids.of('a')).toBe('r:0');
    expect(ids.open('a')).toBe('r:1');
  });

  it('returns the same tool call id for a repeated wire id', () => {
    const ids = createPartIds(runWith([[call('0')]]));
    expect([ids.toolCallId('0'), ids.toolCallId('0'), ids.toolCallId('1'), ids.toolCallId('1')]).toEqual([
      'r:0',
      'r:0',
      '1',
      '1',
    ]);
  });

  it('gives every call without a wire id a new id', () => {
    const ids = createPartIds(runWith([]));
    expect([ids.open(), ids.open(''), ids.toolCallId(), ids.toolCallId('')]).toEqual(['r:0', 'r:1', 'r:2', 'r:3']);
    expect(ids.of('')).toBeUndefined();
  });

  it('resolves the calls of the continued message, but not those of the history', () => {
    const ids = createPartIds(runWith([[call('old')]], [call('waiting')]));
    expect(ids.of('waiting')).toBe('waiting');
    expect(ids.of('old')).toBeUndefined();
    expect(ids.of('never')).toBeUndefined();
  });
});
