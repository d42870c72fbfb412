import { expect, it } from 'vitest';
import type { AgentInfo } from '../api.ts';
import { collectSuggestions } from './collect-suggestions.ts';

const agent = (name: string, suggestions: string[], more: Partial<AgentInfo> = {}): AgentInfo => ({
  name,
  kind: 'mail',
  pauses: 'token',
  hasTopology: false,
  suggestions,
  ...more,
});

it('takes one suggestion of each agent before a second one of any', () => {
  const agents = [agent('a', ['a1', 'a2']), agent('b', []), agent('c', ['c1'], { isDefault: true })];
  expect(collectSuggestions(agents).map(({ text }) => text)).toEqual(['c1', 'a1', 'a2']);
  expect(collectSuggestions([])).toEqual([]);
});
