import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from './json.ts';
import type { Loss } from './loss.ts';
import { toJson } from './to-json.ts';

function convert(value: unknown): { json: Json; losses: string[] } {
  const losses: Loss[] = [];
  const json = toJson(value, (loss) => losses.push(loss));
  return { json, losses: losses.map(({ kind, what }) => `${kind}: ${what}`) };
}

function thrower(): never {
  throw new Error('no');
}

describe('toJson', () => {
  it('returns a value itself if it already is JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const json = JSON.parse(JSON.stringify(value)) as Json;
        expect(toJson(json)).toBe(json);
      }),
    );
  });

  it('gives the same result as JSON.stringify for values that it supports', () => {
    const value = fc.anything({
      withDate: true,
      withBoxedValues: true,
      withNullPrototype: true,
      withSparseArray: true,
    });
    fc.assert(
      fc.property(value, (any) => {
        const text = JSON.stringify(any) as string | undefined;
        expect(toJson(any)).toEqual(text === undefined ? null : JSON.parse(text));
      }),
    );
  });

  it('returns JSON for any value', () => {
    const value = fc.anything({ withBigInt: true, withMap: true, withSet: true, withTypedArray: true, withDate: true });
    fc.assert(
      fc.property(value, (any) => {
        const json = toJson(any);
        expect(JSON.parse(JSON.stringify(json))).toEqual(json);
      }),
    );
  });

  it.each<[string, unknown, Json, string[]]>([
    ['undefined', undefined, null, []],
    ['undefined in an object', { a: undefined, b: 1 }, { b: 1 }, []],
    ['undefined in an array', [undefined, 1], [null, 1], []],
    ['holes', Array(2), [null, null], []],
    ['functions in an object', { a: () => 1, b: 1 }, { b: 1 }, ['unsupported: function at /a']],
    ['a symbol in an array', [Symbol('x')], [null], ['unsupported: symbol at /0']],
    ['BigInt', { n: 2n ** 64n }, { n: '18446744073709551616' }, ['repaired: BigInt at /n']],
    [
      'numbers that are not finite',
      [NaN, Infinity, -Infinity],
      [null, null, null],
      ['unsupported: NaN at /0 and 2 more'],
    ],
    ['minus zero', -0, 0, []],
    ['a date', new Date(0), '1970-01-01T00:00:00.000Z', []],
    ['an invalid date', { at: new Date(NaN) }, { at: null }, ['unsupported: Date at /at']],
    ['bytes', new Uint8Array([1, 2, 3]), 'AQID', ['repaired: Uint8Array']],
    ['a buffer', { b: Buffer.from('hi') }, { b: 'aGk=' }, ['repaired: Uint8Array at /b']],
    ['an array buffer', new Uint8Array([1, 2, 3]).buffer, 'AQID', ['repaired: ArrayBuffer']],
    ['a view', new DataView(new Uint8Array([1, 2, 3]).buffer, 1), 'AgM=', ['repaired: DataView']],
    ['floats', new Float32Array([0.5]), [0.5], ['repaired: Float32Array']],
    ['a map', new Map([['a', { b: 1 }]]), [['a', { b: 1 }]], ['repaired: Map']],
    ['a set', new Set([1, 2]), [1, 2], ['repaired: Set']],
    ['a URL', new URL('https://example.com/'), 'https://example.com/', []],
    [
      'toJSON',
      { a: { toJSON: (key: string) => ({ key, more: 1n }) } },
      { a: { key: 'a', more: '1' } },
      ['repaired: BigInt at /a/toJSON()/more'],
    ],
    [
      'toJSON of itself',
      {
        a: 1,
        toJSON() {
          return this;
        },
      },
      { a: 1 },
      ['unsupported: function at /toJSON'],
    ],
    ['toJSON of nothing', [{ toJSON: () => undefined }], [null], []],
    ['toJSON that throws', { a: { toJSON: thrower }, b: 1 }, { a: null, b: 1 }, ['unsupported: object at /a']],
    [
      'a getter that throws',
      Object.defineProperty({ b: 1 }, 'a', { get: thrower, enumerable: true }),
      { b: 1 },
      ['unsupported: getter at /a'],
    ],
    ['a proxy that throws', { a: new Proxy({}, { ownKeys: thrower }) }, { a: null }, ['unsupported: object at /a']],
    [
      'an instance',
      new (class Point {
        x = 1;
        #y = 2;
        get y() {
          return this.#y;
        }
      })(),
      { x: 1 },
      [],
    ],
    ['inherited keys', Object.create({ inherited: 1 }), {}, []],
    ['an object without prototype', Object.assign(Object.create(null), { a: 1 }), { a: 1 }, []],
    ['an awkward key', { 'a/b~c': 1n }, { 'a/b~c': '1' }, ['repaired: BigInt at /a~1b~0c']],
  ])('converts %s', (_, value, json, losses) => {
    expect(convert(value)).toEqual({ json, losses });
  });

  it('converts an error without its stack', () => {
    const error = Object.assign(new TypeError('bad', { cause: new Error('deeper') }), { code: 'E', status: 500 });
    expect(convert({ error })).toEqual({
      json: {
        error: {
          name: 'TypeError',
          message: 'bad',
          cause: { name: 'Error', message: 'deeper' },
          code: 'E',
          status: 500,
        },
      },
      losses: [],
    });
  });

  it('marks circular references and repeats shared values', () => {
    const shared = { big: 1n };
    const circle: { [key: string]: unknown } = { one: shared, two: shared };
    circle.self = circle;
    circle.list = [circle];
    const { json, losses } = convert(circle);
    expect(json).toEqual({ one: { big: '1' }, two: { big: '1' }, self: '[circular]', list: ['[circular]'] });
    expect(losses).toEqual(['repaired: BigInt at /one/big', 'unsupported: circular reference at /self and 1 more']);
  });

  it('converts shared values in linear time', () => {
    let value: unknown = { big: 1n };
    for (let level = 0; level < 200; level += 1) value = [value, value];
    let json = toJson(value);
    for (let level = 0; level < 200; level += 1) json = (json as Json[])[level % 2] as Json;
    expect(json).toEqual({ big: '1' });
  });

  it.each([
    ['arrays', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['objects', '{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000)],
  ])('limits the depth of %s', (_, text) => {
    const { json, losses } = convert(JSON.parse(text));
    expect(JSON.stringify(json)).toContain('"[too deep]"');
    expect(losses).toHaveLength(1);
  });

  it('limits the depth of shared values that were converted higher up', () => {
    const nested = (levels: number, leaf: unknown): unknown => (levels === 0 ? leaf : [nested(levels - 1, leaf)]);
    const list: unknown[] = [1n];
    for (let index = 0; index < 10; index += 1) list.push(nested(50, list.at(-1)));
    const depths = (toJson(list) as Json[]).map((item) => {
      let depth = 1;
      for (let at = item; Array.isArray(at); at = at[0] as Json) depth += 1;
      return depth;
    });
    expect(depths.slice(0, 6)).toEqual([1, 51, 101, 151, 201, 251]);
    expect(Math.max(...depths)).toBeLessThanOrEqual(256);
  });

  it('keeps a __proto__ key as an own key', () => {
    const value = JSON.parse('{"__proto__":{"polluted":true},"n":1}') as { n: unknown };
    expect(toJson(value)).toBe(value);
    value.n = 1n;
    const { json } = convert(value);
    expect(Object.getPrototypeOf(json)).toBe(Object.prototype);
    expect(JSON.stringify(json)).toBe('{"__proto__":{"polluted":true},"n":"1"}');
  });

  it('keeps NUL and lone surrogates', () => {
    expect(toJson({ text: 'a\0b\ud83d', big: 1n })).toEqual({ text: 'a\0b\ud83d', big: '1' });
  });

  it('reports repeated losses once, with a count', () => {
    expect(convert(Array.from({ length: 100_000 }, () => thrower)).losses).toEqual([
      'unsupported: function at /0 and 99999 more',
    ]);
  });
});
