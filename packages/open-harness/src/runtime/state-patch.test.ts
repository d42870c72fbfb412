import { applyPatch } from '@intertie/core/internal';
import { expect, test } from 'vitest';
import { toStatePatch } from './state-patch.ts';

test.each([
  [{ a: { b: 1 } }, { op: 'set', path: 'a.b', value: 2 }, { a: { b: 2 } }],
  [{}, { op: 'set', path: 'a.b.c', value: 2 }, { a: { b: { c: 2 } } }],
  [{ a: 1 }, { op: 'set', path: 'a.b', value: 2 }, { a: { b: 2 } }],
  [{ a: [1, 2] }, { op: 'set', path: 'a.2', value: 3 }, { a: [1, 2, 3] }],
  [{ 'x/y': 1 }, { op: 'set', path: 'x/y', value: 2 }, { 'x/y': 2 }],
  [{ a: 1 }, { op: 'set', path: '', value: { b: 1 } }, { b: 1 }],
  [{ a: { b: 1 } }, { op: 'merge', path: 'a', value: { c: 2 } }, { a: { b: 1, c: 2 } }],
  [{ a: 1 }, { op: 'merge', path: '', value: { c: 2 } }, { a: 1, c: 2 }],
] as const)('applies to %j the patch %j', (before, patch, after) => {
  const patched = toStatePatch(before as never, patch)!;
  expect(patched.state).toEqual(after);
  expect(applyPatch(before as never, patched.patch)).toMatchObject({ ok: true, value: after });
});

test('returns undefined for an impossible path', () => {
  expect(toStatePatch({ a: [] }, { op: 'set', path: 'a.x', value: 1 })).toBeUndefined();
});
