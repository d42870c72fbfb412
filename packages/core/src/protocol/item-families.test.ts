import { expect, it } from 'vitest';
import { createItemClassifier } from './item-families.ts';

const { findFamily, isDelta } = createItemClassifier([
  { families: { tool: ['tool-*'], people: ['tool-approval-*'], notice: ['*-error'] }, deltas: ['*-delta'] },
  undefined,
  { families: { run: ['tool-box'], text: ['say'] } },
]);

it.each([
  ['tool-call', 'tool'],
  ['tool-approval-request', 'people'],
  ['tool-box', 'run'],
  ['say', 'text'],
  ['says', undefined],
  ['x-error', 'notice'],
])('finds the longest match for %s: %s', (kind, family) => {
  expect(findFamily(kind)).toBe(family);
  expect(findFamily(kind)).toBe(family);
});

it('recognizes deltas', () => {
  expect(['text-delta', 'delta', 'text-delta-x'].map(isDelta)).toEqual([true, false, false]);
});
