import { expect, it } from 'vitest';
import type { AgentInfo } from '../api.ts';
import { createServerLists } from '../server-lists.ts';
import { collectSuggestions } from './collect-suggestions.ts';

const agent = (name: string, suggestions: string[], more: Partial<AgentInfo> = {}): AgentInfo => ({
  name,
  kind: 'parrot',
  pauses: 'token',
  hasTopology: false,
  suggestions,
  ...more,
});

const { getKind } = createServerLists({
  protocols: [],
  agentKinds: [{ name: 'parrot', title: 'Parrot', description: 'A parrot' }],
});

it('takes one suggestion of each agent before a second one of any', () => {
  const agents = [agent('a', ['a1', 'a2']), agent('b', []), agent('c', ['c1'], { isDefault: true })];
  expect(collectSuggestions(agents, getKind).map(({ text }) => text)).toEqual(['c1', 'a1', 'a2']);
  expect(collectSuggestions([], getKind)).toEqual([]);
});

it('describes an agent without a description by its kind', () => {
  const agents = [agent('a', ['a1']), agent('b', ['b1'], { description: 'Mine' }), agent('c', ['c1'], { kind: 'new' })];
  expect(collectSuggestions(agents, getKind).map(({ description }) => description)).toEqual([
    'A parrot',
    'Mine',
    'new',
  ]);
});
