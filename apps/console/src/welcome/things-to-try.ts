import type { AgentInfo } from '../api.ts';

export type Try = { agent: string; text: string; why: string };

const whys: Readonly<Record<AgentInfo['kind'], string>> = {
  model: 'A model through the AI SDK',
  mail: 'A MAIL swarm',
  'open-harness': 'An Open Harness flow',
  'ag-ui': 'An AG-UI agent',
  tape: 'A recorded agent',
  source: 'A source of your own',
};

/** Three things to try: the first suggestion of each agent, then the second ones, until there are three. */
export function thingsToTry(agents: readonly AgentInfo[], count = 3): Try[] {
  const tries: Try[] = [];
  const sorted = agents.toSorted((a, b) => Number(b.isDefault ?? false) - Number(a.isDefault ?? false));
  const rounds = Math.max(0, ...sorted.map(({ suggestions = [] }) => suggestions.length));
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, kind, suggestions = [], description } of sorted) {
      const text = suggestions[round];
      if (text !== undefined) tries.push({ agent: name, text, why: description ?? whys[kind] });
    }
  }
  return tries.slice(0, count);
}
