import { describe, expect, it } from 'vitest';
import { transcode } from './codec.ts';
import { formatTape, writeTape } from './write-tape.ts';

const header = { tape: 1 as const, dialect: 'canonical' };

describe('writeTape', () => {
  it('writes the header first, once', () => {
    const lines: string[] = [];
    const codec = writeTape(header);
    codec.flush?.((line) => lines.push(line));
    codec.feed({ t: 5, item: 'a\n' }, (line) => lines.push(line));
    codec.end({ reason: 'eof' }, (line) => lines.push(line));
    expect(lines).toEqual(['{"tape":1,"dialect":"canonical"}\n', '{"t":5,"item":"a\\n"}\n']);
  });

  it('writes a header also where nothing followed', () => {
    expect(transcode(writeTape(header), [])).toEqual(['{"tape":1,"dialect":"canonical"}\n']);
    expect(formatTape({ header, items: [] })).toBe('{"tape":1,"dialect":"canonical"}\n');
  });
});
