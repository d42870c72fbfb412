import { expect, it } from 'vitest';
import { nearest } from './nearest.ts';

it.each([
  ['ag-uii', 'ag-ui'],
  ['agui', 'ag-ui'],
  ['cannonical', 'canonical'],
  ['ui', 'ui-message-stream'],
  ['open-harnes', 'open-harness'],
  ['mial', 'mail'],
  ['banana', undefined],
  ['x', undefined],
])('finds for %s the candidate %s', (word, meant) => {
  const names = ['canonical', 'ag-ui', 'ui-message-stream', 'mail', 'open-harness'];
  expect(nearest(word, names)).toBe(meant);
});
