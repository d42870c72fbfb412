import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../json/json.ts';
import { mergeMeta, mergeMetadata } from './merge-meta.ts';

describe('mergeMeta', () => {
  it('merges the objects under each top-level key, and the later value wins', () => {
    expect(mergeMeta({ openai: { a: 1, c: 1 } }, { openai: { b: 2, c: 2 }, mail: { id: 'x' } })).toEqual({
      openai: { a: 1, b: 2, c: 2 },
      mail: { id: 'x' },
    });
  });

  it('replaces values below the second level', () => {
    expect(mergeMeta({ openai: { a: { x: 1 } } }, { openai: { a: { y: 2 } } })).toEqual({ openai: { a: { y: 2 } } });
  });

  it('returns the only argument that is defined', () => {
    const meta = { openai: { a: 1 } };
    expect(mergeMeta(meta, undefined)).toBe(meta);
    expect(mergeMeta(undefined, meta)).toBe(meta);
    expect(mergeMeta(undefined, undefined)).toBeUndefined();
  });

  it('returns the first argument itself if nothing changes', () => {
    const meta = { openai: { a: 1, b: 'x' }, mail: { c: null } };
    expect(mergeMeta(meta, { openai: { a: 1 }, mail: {} })).toBe(meta);
    expect(mergeMeta(meta, {})).toBe(meta);
  });

  it('changes neither argument', () => {
    const a = { openai: { a: 1 }, same: { z: 1 } };
    const b = { openai: { b: 2 } };
    const merged = mergeMeta(a, b);
    expect([a, b]).toEqual([{ openai: { a: 1 }, same: { z: 1 } }, { openai: { b: 2 } }]);
    expect(merged.same).toBe(a.same);
  });

  it('replaces a value of another type', () => {
    const broken = JSON.parse('{"openai":null}') as { openai: JsonObject };
    expect(mergeMeta(broken, { openai: { a: 1 } })).toEqual({ openai: { a: 1 } });
  });
});

describe('mergeMetadata', () => {
  it('merges deeply and replaces arrays', () => {
    expect(mergeMetadata({ a: { b: { c: 1 }, list: [1, 2] } }, { a: { b: { d: 2 }, list: [3] } })).toEqual({
      a: { b: { c: 1, d: 2 }, list: [3] },
    });
  });

  it('replaces an object by null', () => {
    expect(mergeMetadata({ a: { b: 1 } }, { a: null })).toEqual({ a: null });
  });

  it('keeps a __proto__ key as an own key, without prototype pollution', () => {
    const wire = JSON.parse(
      '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
    ) as JsonObject;
    const merged = mergeMetadata({ a: 1 }, wire);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
    expect(JSON.parse(JSON.stringify(merged))).toEqual(JSON.parse(`{"a":1,${JSON.stringify(wire).slice(1)}`));
    expect(JSON.stringify(mergeMetadata(wire, { b: 1 }))).toContain('"__proto__":{"polluted":true}');
  });

  it('merges nesting of 100,000 levels without exhausting the stack', () => {
    const deep = (leaf: string): JsonObject =>
      JSON.parse('{"a":'.repeat(100_000) + leaf + '}'.repeat(100_000)) as JsonObject;
    expect(Object.keys(mergeMetadata(deep('1'), deep('2')))).toEqual(['a']);
  });

  it('is idempotent', () => {
    const object = fc.dictionary(
      fc.constantFrom('a', 'b', '__proto__'),
      fc.jsonValue({ maxDepth: 3 }),
    ) as fc.Arbitrary<JsonObject>;
    fc.assert(
      fc.property(object, object, (a, b) => {
        const once = mergeMetadata(a, b);
        expect(mergeMetadata(once, b)).toEqual(once);
      }),
    );
  });
});
