import { describe, expect, it } from 'vitest';

import { copyNearestJson, copyJson } from './copy-json.ts';
import { MAX_OUTER_DEPTH } from './max-depth.ts';
import { MessageFormatError } from './message-format-error.ts';

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

function failure(value: unknown): MessageFormatError {
  try {
    copyJson(value, 'state');
  } catch (error) {
    if (error instanceof MessageFormatError) return error;
    throw error;
  }
  throw new Error('The value was accepted.');
}

describe('copyJson', () => {
  it('shares no objects with the original', () => {
    const value = { list: [{ n: 1 }] };
    const copy = copyJson(value, 'state') as typeof value;
    expect(copy).toEqual(value);
    expect(copy).not.toBe(value);
    expect(copy.list[0]).not.toBe(value.list[0]);
  });

  it('converts dates, bytes, typed arrays, maps and sets', () => {
    const { buffer } = new Uint8Array([1]);
    const value = { at: new Date(0), bytes: buffer, view: new DataView(buffer), floats: new Float64Array([0.5]) };
    expect(copyJson({ ...value, none: undefined, map: new Map([['a', new Set([1])]]) }, '')).toEqual({
      at: '1970-01-01T00:00:00.000Z',
      bytes: 'AQ==',
      view: 'AQ==',
      floats: [0.5],
      map: [['a', [1]]],
    });
    expect(copyJson(undefined, '')).toBeNull();
  });

  it('copies shared values in linear time', () => {
    let value: unknown[] = [];
    for (let level = 0; level < 200; level += 1) value = [value, value];
    let copy = copyJson(value, '') as unknown[];
    for (let level = 0; level < 200; level += 1) copy = copy[1] as unknown[];
    expect(copy).toEqual([]);
  });

  it('keeps a __proto__ key as an own key', () => {
    const value = JSON.parse('{"__proto__":{"a":[1]}}') as object;
    const copy = copyJson(value, '') as object;
    expect(Object.keys(copy)).toEqual(['__proto__']);
    expect(JSON.stringify(copy)).toBe(JSON.stringify(value));
  });

  it.each<[string, unknown, string]>([
    ['a BigInt', { a: [0, 1n] }, 'state.a[1]'],
    ['a function', { a: { b: () => 1 } }, 'state.a.b'],
    ['a symbol', { a: Symbol('s') }, 'state.a'],
    ['a number that is not finite', [Number.NaN], 'state[0]'],
    ['an invalid date', { at: new Date(Number.NaN) }, 'state.at'],
    ['nesting that is too deep', { a: nested(MAX_OUTER_DEPTH) }, `state.a${'[0]'.repeat(64)}`],
  ])('rejects %s and names the place', (_, value, place) => {
    const error = failure(value);
    expect(error.code).toBe('invalid');
    expect(error.path.slice(0, 199)).toBe(place.slice(0, 199));
    expect(error.message).toContain('cannot be stored as JSON');
  });

  it('limits the path in the error to 200 characters', () => {
    const { path, message } = failure({ ['k'.repeat(100_000)]: { ['l'.repeat(100_000)]: 1n } });
    expect(path).toHaveLength(200);
    expect(message.length).toBeLessThan(300);
  });
});

describe('copyNearestJson', () => {
  it('replaces values that are not JSON without throwing', () => {
    const value = { big: 1n, none: () => 1, list: [Number.NaN], keep: 'x' };
    expect(copyNearestJson(value)).toEqual({ big: '1', list: [null], keep: 'x' });
    expect(JSON.stringify(copyNearestJson(nested(100_000)))).toContain('"[too deep]"');
  });

  it('copies a value that already is JSON', () => {
    const value = { a: [1] };
    expect(copyNearestJson(value)).toEqual(value);
    expect(copyNearestJson(value)).not.toBe(value);
  });
});
