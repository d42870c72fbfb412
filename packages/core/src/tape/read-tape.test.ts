import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { transcode } from '../codec/codec.ts';
import type { Json, JsonObject } from '../json/json.ts';
import type { Loss } from '../json/loss.ts';
import { parseTape, readTape } from './read-tape.ts';
import { TapeError } from './tape-error.ts';
import type { Tape } from './tape.ts';
import { formatTape } from './write-tape.ts';

const HEADER = '{"tape":1,"dialect":"canonical"}\n';
const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

function failure(text: string | Uint8Array): TapeError | undefined {
  try {
    parseTape(text);
  } catch (error) {
    if (error instanceof TapeError) return error;
  }
  return undefined;
}

describe('readTape', () => {
  const tape: Tape = {
    header: {
      tape: 1,
      dialect: 'canonical',
      createdAt: '2026-01-31T12:00:00.000Z',
      title: 'Größe €😀',
      extra: { a: [1] },
    },
    items: [
      { t: 0, item: { type: 'text-delta', id: 'a', delta: 'NUL \0, halves \ud83d \ude00, 😀, \u2028\n\r' } },
      { t: 0.5, item: null },
      { t: 17, item: [1, 'é', { b: true }] },
    ],
  };
  const text = formatTape(tape);

  it('reads text that is split at any character', () => {
    for (let cut = 0; cut <= text.length; cut += 1) {
      const lines = transcode(readTape(), [text.slice(0, cut), text.slice(cut)]);
      expect(lines.map((line) => (line.type === 'item' ? line.item : line.type))).toEqual(['header', ...tape.items]);
    }
  });

  it('reads bytes that are split at any position', () => {
    const bytes = encode(text);
    const whole = transcode(readTape(), [bytes]);
    expect(whole).toEqual(transcode(readTape(), [text]));
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      expect(transcode(readTape(), [bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual(whole);
    }
    expect(
      transcode(
        readTape(),
        Array.from(bytes, (byte) => Uint8Array.of(byte)),
      ),
    ).toEqual(whole);
  });

  it('reports an invalid line and continues with the next', () => {
    const lines = transcode(readTape(), [
      `${HEADER}{"t":0,"item":1}\nbroken\n\n{"t":-1,"item":1}\n{"t":1}\n{"t":9,"item":2}\n`,
    ]);
    expect(lines.map((line) => (line.type === 'error' ? [line.error.type, line.error.line] : line.type))).toEqual([
      'header',
      'item',
      ['line', 3],
      ['line', 5],
      ['line', 6],
      'item',
    ]);
  });

  it('reports a line that is too long and continues with the next', () => {
    const lines = transcode(readTape({ maxLineLength: 100 }), [
      HEADER,
      `{"t":0,"item":"${'x'.repeat(1000)}`,
      '"}\n{"t":1,"item":2}\n',
    ]);
    expect(lines.slice(1)).toEqual([
      { type: 'error', error: expect.objectContaining({ type: 'oversized', line: 2 }) },
      { type: 'item', item: { t: 1, item: 2 } },
    ]);
  });

  it('stops after an invalid header', () => {
    expect(transcode(readTape(), ['{"t":0,"item":1}\n{"t":1,"item":2}\n'])).toHaveLength(1);
  });
});

describe('parseTape', () => {
  it('reads CRLF, blank lines, a byte order mark, and a last line without a line break', () => {
    expect(parseTape('\ufeff{"tape":1,"dialect":"mail"}\r\n\r\n{"t":0,"item":1}\r\n{"t":1,"item":2}')).toEqual({
      header: { tape: 1, dialect: 'mail' },
      items: [
        { t: 0, item: 1 },
        { t: 1, item: 2 },
      ],
    });
    expect(parseTape(encode(`\ufeff${HEADER}`)).items).toEqual([]);
  });

  it('reports a torn last line and keeps the earlier items', () => {
    const losses: Loss[] = [];
    const tape = parseTape(`${HEADER}{"t":0,"item":1}\n{"t":1,"ite`, (loss) => losses.push(loss));
    expect(tape.items).toEqual([{ t: 0, item: 1 }]);
    expect(losses).toEqual([{ kind: 'repaired', what: 'line 3', why: expect.stringContaining('cut off') }]);
  });

  it.each<[string, string | Uint8Array, TapeError['type'], number, RegExp]>([
    ['an empty tape', '', 'header', 1, /empty/],
    ['a tape without a header', '{"t":0,"item":1}\n', 'header', 1, /Is this file a tape/],
    ['a torn header', '{"tape":1,"dia', 'header', 1, /JSON/],
    ['a header without a dialect', '{"tape":1}\n', 'header', 1, /dialect/],
    ['a list', '[]', 'header', 1, /expected a JSON object/],
    ['a newer tape', '\n{"tape":2,"dialect":"canonical"}\n', 'version', 2, /version 2.*supports version 1.*Update/],
    ['invalid JSON', `${HEADER}\n{"t":0,}\n`, 'line', 3, /invalid JSON/],
    ['a line without a time', `${HEADER}{"item":1}\n`, 'line', 2, /"t"/],
    ['a time that is not finite', `${HEADER}{"t":1e999,"item":1}\n`, 'line', 2, /"t"/],
    ['bytes that are not UTF-8', Uint8Array.of(...encode(HEADER), 0xff, 0x0a), 'line', 2, /UTF-8/],
  ])('rejects %s and names the line', (_, text, type, line, message) => {
    expect(failure(text)).toMatchObject({ name: 'TapeError', type, line, message: expect.stringMatching(message) });
  });

  it('is the exact inverse of formatTape', () => {
    const json = fc.jsonValue({ stringUnit: 'binary' }).map((value) => JSON.parse(JSON.stringify(value)) as Json);
    const own = fc
      .dictionary(fc.string(), json, { maxKeys: 3 })
      .map((fields) => JSON.parse(JSON.stringify(fields)) as JsonObject);
    const tape = fc.record({
      header: own.map((fields) => ({ ...fields, tape: 1 as const, dialect: 'x' })),
      items: fc.array(fc.record({ t: fc.nat(), item: json }, { noNullPrototype: true })),
    });
    fc.assert(
      fc.property(tape, (value) => {
        const text = formatTape(value);
        expect(parseTape(text)).toEqual(value);
        expect(formatTape(parseTape(text))).toBe(text);
        expect(formatTape(parseTape(encode(text)))).toBe(text);
      }),
    );
  });

  it('preserves unknown fields of the header and the lines', () => {
    const text = '{"own":{"__proto__":1},"tape":1,"dialect":"x"}\n{"note":"\\ud83d","t":0,"item":"\\u0000"}\n';
    expect(formatTape(parseTape(text))).toBe(text);
  });
});
