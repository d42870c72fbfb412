import { expect, test } from 'vitest';
import { providerDataName, providerKindOf } from './provider-data.ts';

test('a kind is named, and comes back by its name', () => {
  expect(providerKindOf(providerDataName('openai.compaction'))).toBe('openai.compaction');
});

test.each([['chart'], ['provider:custom'], ['provider:'], [undefined]])('%j is data like any other', (name) => {
  expect(providerKindOf(name)).toBeUndefined();
});
