import { describe, expect, it } from 'vitest';
import { createSSEParser } from './sse.ts';

describe('createSSEParser', () => {
  const text = ': hello\r\nid: 1.1\ndata: {"a":1}\n\nevent: reset\ndata: {}\n\ndata: one\ndata: two\n\n';
  const events = [
    { id: '1.1', event: 'message', data: '{"a":1}' },
    { id: '1.1', event: 'reset', data: '{}' },
    { id: '1.1', event: 'message', data: 'one\ntwo' },
  ];

  it('parses the same events for any chunk size', () => {
    for (let size = 1; size <= text.length; size += 1) {
      const parse = createSSEParser();
      const read = [];
      for (let at = 0; at < text.length; at += size) read.push(...parse(text.slice(at, at + size)));
      expect(read).toEqual(events);
    }
  });

  it('does not emit an incomplete event', () => {
    const parse = createSSEParser();
    expect(parse('data: half\n')).toEqual([]);
  });
});
