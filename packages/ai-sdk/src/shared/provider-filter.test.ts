import type { Loss } from '@intertie/core';
import { expect, test } from 'vitest';
import { createProviderFilter } from './provider-filter.ts';

const none = (): void => undefined;
const meta = { anthropic: { signature: 's' }, openai: { itemId: 'i' }, intertie: { id: 'p' } };

test.each([
  ['anthropic.messages', ['anthropic']],
  ['vertex.anthropic.messages', ['anthropic']],
  ['openai.responses', ['openai']],
  ['azure.responses', ['openai']],
  ['mistral.chat', []],
  ['gateway', ['anthropic', 'openai', 'intertie']],
  [undefined, ['anthropic', 'openai', 'intertie']],
])('sends %s the metadata %j', (provider, keys) => {
  expect(Object.keys(createProviderFilter(provider, none).filterMetadata(meta) ?? {})).toEqual(keys);
});

test('accepts the camel case form of a name with a dash', () => {
  const filter = createProviderFilter('my-company.chat', none);
  expect(filter.filterMetadata({ myCompany: { a: 1 } })).toEqual({ myCompany: { a: 1 } });
});

test('recognizes content that only other providers signed', () => {
  const { isSignedByOther } = createProviderFilter('anthropic.messages', none);
  expect(isSignedByOther({ openai: {} })).toBe(true);
  expect(isSignedByOther({ openai: {}, anthropic: {} })).toBe(false);
  expect(isSignedByOther(undefined)).toBe(false);
});

test('reports each dropped key once', () => {
  const losses: Loss[] = [];
  const filter = createProviderFilter('anthropic.messages', (loss) => losses.push(loss));
  filter.filterMetadata(meta);
  filter.filterMetadata(meta);
  expect(losses.map(({ what }) => what)).toEqual(['metadata of openai', 'metadata of intertie']);
});
