import type { AgentInfo } from '../api.ts';

export type Suggestion = { agent: string; text: string; description: string };

const kindDescriptions: Readonly<Record<AgentInfo['kind'], string>> = {
  model: 'A model through the AI SDK',
  mail: 'A MAIL swarm',
  'open-harness': 'An Open Harness flow',
  'ag-ui': 'An AG-UI agent',
  'chat-route': 'An AI SDK chat route',
  tape: 'A recorded agent',
  source: 'A custom source',
};

/** Collects up to `count` suggestions: the first one of each agent, then the second ones, and so on. */
export function collectSuggestions(agents: readonly AgentInfo[], count = 3): Suggestion[] {
  const collected: Suggestion[] = [];
  const sorted = agents.toSorted((a, b) => Number(b.isDefault ?? false) - Number(a.isDefault ?? false));
  const rounds = Math.max(0, ...sorted.map(({ suggestions = [] }) => suggestions.length));
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, kind, suggestions = [], description } of sorted) {
      const text = suggestions[round];
      if (text !== undefined) {
        collected.push({ agent: name, text, description: description ?? kindDescriptions[kind] });
      }
    }
  }
  return collected.slice(0, count);
}
