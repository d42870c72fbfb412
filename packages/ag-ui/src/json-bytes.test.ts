import fc from 'fast-check';
import { expect, it } from 'vitest';
import { maxJsonBytes, writeJsonText } from './json-bytes.ts';

const encoder = new TextEncoder();
const inJson = (text: string): number[] => [...encoder.encode(JSON.stringify(text).slice(1, -1))];

function written(text: string): number[] | undefined {
  const bytes = new Uint8Array(1 + text.length * maxJsonBytes);
  const end = writeJsonText(text, bytes, 1);
  return end < 0 ? undefined : [...bytes.subarray(1, end)];
}

it('says each character as JSON does, or leaves it to JSON', () => {
  const left: number[] = [];
  for (let unit = 0; unit < 0x10000; unit++) {
    const text = String.fromCharCode(unit);
    const bytes = written(text);
    if (bytes === undefined) left.push(unit);
    else if (String(bytes) !== String(inJson(text))) throw new Error(`U+${unit.toString(16)} is ${bytes.join(' ')}`);
  }
  const isHalf = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff;
  const short = new Set([8, 9, 10, 12, 13]);
  const isControl = (unit: number): boolean => unit < 0x20 && !short.has(unit);
  expect(left).toEqual(Array.from({ length: 0x10000 }, (_, unit) => unit).filter((n) => isHalf(n) || isControl(n)));
});

it('says texts as JSON does, halves of pairs and controls aside', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', '\u007f', 'é', '\u2028', '你', '😀', '\u{10ffff}') }),
  );
  fc.assert(
    fc.property(text, (words) => {
      const bytes = written(words);
      // oxlint-disable-next-line no-control-regex -- they are what is left to JSON
      expect(bytes === undefined).toBe(/[\u0000-\u0007\u000b\u000e-\u001f]|\p{Surrogate}/u.test(words));
      expect(bytes ?? inJson(words)).toEqual(inJson(words));
    }),
    { numRuns: 200 },
  );
});
