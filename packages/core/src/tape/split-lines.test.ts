import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { transcode } from '../codec/codec.ts';
import { splitLines } from './split-lines.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('splitLines', () => {
  it('numbers the lines and marks a last line without a line break', () => {
    expect(transcode(splitLines(), ['a\r\n\nb'])).toEqual([
      { line: 1, text: 'a' },
      { line: 2, text: '' },
      { line: 3, text: 'b', cut: true },
    ]);
  });

  it('joins a line from text and byte chunks', () => {
    const [first, second] = [encode('€').slice(0, 2), encode('€').slice(2)];
    expect(transcode(splitLines(), [first, second, 'x', '\r', encode('\n')])).toEqual([{ line: 1, text: '€x' }]);
  });

  it('gives the same lines for any chunks', () => {
    const text = fc.array(fc.constantFrom('a', 'é', '€', '😀', '\n', '\r\n', '\0')).map((units) => units.join(''));
    fc.assert(
      fc.property(text, fc.array(fc.nat()), (whole, cuts) => {
        const bytes = encode(whole);
        const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
        const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
        expect(transcode(splitLines(), chunks)).toEqual(transcode(splitLines(), [whole]));
      }),
    );
  });

  it('reports a line that is too long and continues with the next', () => {
    expect(transcode(splitLines(3), ['ab', 'cd', 'ef\nabc\n', 'abcd'])).toEqual([
      { line: 1, problem: 'oversized' },
      { line: 2, text: 'abc' },
      { line: 3, problem: 'oversized' },
    ]);
  });

  it('reports lines that are not UTF-8', () => {
    expect(transcode(splitLines(), [new Uint8Array([0x61, 0x0a, 0xff, 0x0a, 0xe2, 0x82]), '\nb\n'])).toEqual([
      { line: 1, text: 'a' },
      { line: 2, problem: 'encoding' },
      { line: 3, problem: 'encoding' },
      { line: 4, text: 'b' },
    ]);
  });

  it('copies incomplete lines out of the caller’s buffer', () => {
    const buffer = encode('abc');
    const lines: string[] = [];
    const codec = splitLines();
    codec.feed(buffer, () => {});
    buffer.fill(0x7a);
    codec.feed('\n', (line) => lines.push(line.text ?? ''));
    expect(lines).toEqual(['abc']);
  });
});
