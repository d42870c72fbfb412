import { expect, test } from 'vitest';
import { toProviderDataName, parseProviderKind } from './provider-data.ts';

test('a kind is named, and comes back by its name', () => {
  expect(parseProviderKind(toProviderDataName('openai.compaction'))).toBe('openai.compaction');
});

test.each([['chart'], ['provider:custom'], ['provider:'], [undefined]])('%j is data like any other', (name) => {
  expect(parseProviderKind(name)).toBeUndefined();
});
