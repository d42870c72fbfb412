import { describe, expect, it } from 'vitest';

import { matchParts } from './match-parts.ts';
import type { MessagePart } from '../event/message.ts';

const text = (value: string, rest: object = {}): MessagePart => ({ type: 'text', text: value, ...rest });
const reasoning = (signature?: string): MessagePart => ({
  type: 'reasoning',
  reasoning: '',
  ...(signature !== undefined && { providerMetadata: { anthropic: { signature } } }),
});
const match = (stored: MessagePart[], incoming: MessagePart[]): Array<[number, number]> => [
  ...matchParts(stored, incoming),
];

describe('matchParts', () => {
  it('matches equal parts first, in order and once each', () => {
    expect(match([text('a'), text('b'), text('a')], [text('a'), text('a'), text('a')])).toEqual([
      [0, 0],
      [1, 2],
    ]);
    expect(match([text('a'), text('ab')], [text('ab')])).toEqual([[0, 1]]);
  });

  it('matches texts if one is a prefix of the other', () => {
    expect(match([text('first'), text('second')], [text('second, longer'), text('fir')])).toEqual([
      [0, 1],
      [1, 0],
    ]);
    expect(match([text('first')], [text('other')])).toEqual([]);
  });

  it('does not match texts of different agents, types or ids', () => {
    expect(match([text('a', { agentId: 'x' })], [text('a', { agentId: 'y' })])).toEqual([]);
    expect(match([{ type: 'reasoning', reasoning: 'a' }], [text('a')])).toEqual([]);
    expect(match([text('a', { id: 'p' })], [text('a', { id: 'q' })])).toEqual([]);
  });

  it('matches a text without an id with one that has an id', () => {
    expect(match([text('a', { id: 'p' })], [text('a')])).toEqual([[0, 0]]);
    expect(match([text('a')], [text('ab', { id: 'p' })])).toEqual([[0, 0]]);
    expect(match([text('a', { id: 'p' }), text('a')], [text('a')])).toEqual([[0, 0]]);
  });

  it('does not match hidden reasoning with different signatures', () => {
    expect(match([reasoning('s1'), reasoning('s2')], [reasoning('s2')])).toEqual([[0, 1]]);
    expect(match([reasoning('s1')], [reasoning('s2')])).toEqual([]);
    expect(match([reasoning('s1')], [{ type: 'reasoning', reasoning: 'Hm' }])).toEqual([]);
    expect(match([reasoning()], [{ type: 'reasoning', reasoning: 'Hm' }])).toEqual([[0, 0]]);
  });

  it('compares other parts by all fields except metadata, in any key order', () => {
    const stored: MessagePart[] = [
      { type: 'data', data: 1 },
      { type: 'file', url: 'https://example.com/a', mimeType: 'text/plain' },
    ];
    const file = {
      mimeType: 'text/plain',
      providerMetadata: { x: { y: 1 } },
      url: 'https://example.com/a',
      type: 'file',
    };
    expect(match(stored, [file as MessagePart, { type: 'data', data: 2 }])).toEqual([[0, 1]]);
  });

  it('runs in linear time even if nothing matches', () => {
    const stored = Array.from({ length: 50_000 }, (_, index) => text(`stored ${index}`));
    const incoming = Array.from({ length: 50_000 }, (_, index) => text(`incoming ${index}`));
    expect(match(stored, incoming)).toEqual([]);
    expect(match(stored, stored)).toHaveLength(50_000);
  });
});
