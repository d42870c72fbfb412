import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyPatch, equalJson, type Op } from './json-patch.ts';
import type { Json } from './json.ts';

const apply = (document: Json, ...patch: Op[]): unknown => {
  const result = applyPatch(document, patch);
  return result.ok ? result.value : result.message;
};

describe('applyPatch', () => {
  it.each<[string, Json, Op[], Json]>([
    ['adds a key', { a: 1 }, [{ op: 'add', path: '/b', value: 2 }], { a: 1, b: 2 }],
    ['adds to the end of a list', [1], [{ op: 'add', path: '/-', value: 2 }], [1, 2]],
    ['adds into a list', [1, 3], [{ op: 'add', path: '/1', value: 2 }], [1, 2, 3]],
    ['replaces the document', { a: 1 }, [{ op: 'replace', path: '', value: [] }], []],
    ['replaces in a list', [1, 2], [{ op: 'replace', path: '/0', value: 9 }], [9, 2]],
    ['removes an item', { a: 1, b: [1, 2] }, [{ op: 'remove', path: '/b/0' }], { a: 1, b: [2] }],
    ['moves a value', { a: { x: 1 }, b: {} }, [{ op: 'move', from: '/a/x', path: '/b/y' }], { a: {}, b: { y: 1 } }],
    ['moves in a list', [1, 2, 3], [{ op: 'move', from: '/0', path: '/2' }], [2, 3, 1]],
    ['moves onto itself', { a: 1 }, [{ op: 'move', from: '/a', path: '/a' }], { a: 1 }],
    ['unescapes keys', { 'a/b': 1, 'c~d': 2 }, [{ op: 'replace', path: '/a~1b', value: 3 }], { 'a/b': 3, 'c~d': 2 }],
    ['supports empty keys', { '': { '': 1 } }, [{ op: 'replace', path: '//', value: 2 }], { '': { '': 2 } }],
    [
      'tests equality regardless of the order of keys',
      { a: { x: 1, y: 2 } },
      [{ op: 'test', path: '/a', value: { y: 2, x: 1 } }],
      { a: { x: 1, y: 2 } },
    ],
  ])('%s', (_, document, patch, expected) => {
    expect(apply(document, ...patch)).toEqual(expected);
  });

  it.each<[string, Json, Op, RegExp]>([
    ['a missing key', {}, { op: 'remove', path: '/a' }, /"\/a" does not exist/],
    ['a missing parent', {}, { op: 'add', path: '/a/b', value: 1 }, /parent of "\/a\/b" does not exist/],
    ['an index beyond the end', [1], { op: 'add', path: '/2', value: 1 }, /not an index of a list of 1/],
    ['a leading zero', [1, 2], { op: 'remove', path: '/01' }, /not an index/],
    ['a path that is not a pointer', {}, { op: 'add', path: 'a', value: 1 }, /not a JSON pointer/],
    ['a failed test', { a: 1 }, { op: 'test', path: '/a', value: 2 }, /differs/],
    ['removing the document', {}, { op: 'remove', path: '' }, /itself/],
    ['a move into itself', { a: { b: 1 } }, { op: 'move', from: '/a', path: '/a/b' }, /into itself/],
    ['an unknown operation', {}, { op: 'merge', path: '/a' } as never, /not an operation/],
  ])('fails for %s', (_, document, op, message) => {
    expect(apply(document, op)).toMatch(message);
  });

  it('adds a __proto__ key as an own key', () => {
    const value = apply({}, { op: 'add', path: '/__proto__', value: { polluted: true } }) as object;
    expect(Object.hasOwn(value, '__proto__')).toBe(true);
    expect(({} as { polluted?: true }).polluted).toBeUndefined();
  });

  it('never changes the document, and undoes a failed patch of owned containers', () => {
    const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
    const path = fc
      .array(fc.constantFrom('a', 'b', '0', '1', '-'), { maxLength: 3 })
      .map((keys) => keys.map((k) => `/${k}`).join(''));
    const op = fc.oneof(
      fc.record({ op: fc.constantFrom('add', 'replace', 'test'), path, value: json }),
      fc.record({ op: fc.constant('remove'), path }),
      fc.record({ op: fc.constantFrom('move', 'copy'), from: path, path }),
    ) as fc.Arbitrary<Op>;
    const seed = fc.constantFrom<Json>({ a: [1, { b: 2 }], b: { a: {}, b: [[], 0] } }, [{ a: 1 }, [2]]);
    fc.assert(
      fc.property(seed, fc.array(fc.array(op, { maxLength: 4 }), { maxLength: 6 }), (document, patches) => {
        const before = JSON.stringify(document);
        const owned = new WeakSet();
        let inPlace: Json = document;
        let fresh: Json = document;
        for (const patch of patches) {
          const frozen = structuredClone(inPlace);
          const a = applyPatch(inPlace, patch, owned);
          const b = applyPatch(fresh, structuredClone(patch));
          expect(a.ok).toBe(b.ok);
          inPlace = a.ok ? a.value : inPlace;
          fresh = b.ok ? b.value : fresh;
          expect(a.ok || equalJson(inPlace, frozen)).toBe(true);
          expect(equalJson(inPlace, fresh)).toBe(true);
        }
        expect(JSON.stringify(document)).toBe(before);
      }),
    );
  });
});
