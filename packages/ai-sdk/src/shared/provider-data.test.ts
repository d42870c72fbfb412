import { expect, test } from 'vitest';
import { toProviderDataName, parseProviderKind } from './provider-data.ts';

test('converts a kind to a data name and back', () => {
  expect(parseProviderKind(toProviderDataName('openai.compaction'))).toBe('openai.compaction');
});

test.each([['chart'], ['provider:custom'], ['provider:'], [undefined]])('treats %j as ordinary data', (name) => {
  expect(parseProviderKind(name)).toBeUndefined();
});
