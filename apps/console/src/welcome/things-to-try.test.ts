import { expect, it } from 'vitest';
import type { AgentInfo } from '../api.ts';
import { thingsToTry } from './things-to-try.ts';

const agent = (name: string, suggestions: string[], more: Partial<AgentInfo> = {}): AgentInfo => ({
  name,
  kind: 'mail',
  pauses: 'token',
  hasTopology: false,
  suggestions,
  ...more,
});

it('shows what each agent can do before it shows more of one', () => {
  const agents = [agent('a', ['a1', 'a2']), agent('b', []), agent('c', ['c1'], { isDefault: true })];
  expect(thingsToTry(agents).map(({ text }) => text)).toEqual(['c1', 'a1', 'a2']);
  expect(thingsToTry([])).toEqual([]);
});
