import type { AgentInfo } from '../api.ts';
import type { ServerLists } from '../server-lists.ts';

export type Suggestion = { agent: string; text: string; description: string };

/** Collects up to `count` suggestions: the first one of each agent, then the second ones, and so on. */
export function collectSuggestions(
  agents: readonly AgentInfo[],
  getKind: ServerLists['getKind'],
  count = 3,
): Suggestion[] {
  const collected: Suggestion[] = [];
  const sorted = agents.toSorted((a, b) => Number(b.isDefault ?? false) - Number(a.isDefault ?? false));
  const rounds = Math.max(0, ...sorted.map(({ suggestions = [] }) => suggestions.length));
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, kind, suggestions = [], description } of sorted) {
      const text = suggestions[round];
      if (text !== undefined) {
        collected.push({ agent: name, text, description: description ?? getKind(kind).description });
      }
    }
  }
  return collected.slice(0, count);
}
