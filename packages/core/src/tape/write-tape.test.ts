import { describe, expect, it } from 'vitest';
import { transcode } from '../codec/codec.ts';
import type { Loss } from '../json/loss.ts';
import { parseTape } from './read-tape.ts';
import { formatTape, writeTape } from './write-tape.ts';

const header = { tape: 1 as const, dialect: 'canonical' };

describe('writeTape', () => {
  it('writes the header once, before the items', () => {
    const lines: string[] = [];
    const codec = writeTape(header);
    codec.flush?.((line) => lines.push(line));
    codec.feed({ t: 5, item: 'a\n' }, (line) => lines.push(line));
    codec.end({ reason: 'eof' }, (line) => lines.push(line));
    expect(lines).toEqual(['{"tape":1,"dialect":"canonical"}\n', '{"t":5,"item":"a\\n"}\n']);
  });

  it('converts values that are not JSON, and reports them', () => {
    const losses: Loss[] = [];
    const circle: { self?: unknown } = {};
    circle.self = circle;
    const items = [
      { t: 0, item: 1n },
      { t: 1, item: circle },
    ] as never;
    const text = formatTape({ header: { ...header, note: 2n as never }, items }, (loss) => losses.push(loss));
    expect(parseTape(text)).toEqual({
      header: { ...header, note: '2' },
      items: [
        { t: 0, item: '1' },
        { t: 1, item: { self: '[circular]' } },
      ],
    });
    expect(losses.map(({ what }) => what)).toEqual([
      'BigInt at /note',
      'BigInt at /item',
      'circular reference at /item/self',
    ]);
  });

  it('writes the header of an empty tape', () => {
    expect(transcode(writeTape(header), [])).toEqual(['{"tape":1,"dialect":"canonical"}\n']);
    expect(formatTape({ header, items: [] })).toBe('{"tape":1,"dialect":"canonical"}\n');
  });
});
