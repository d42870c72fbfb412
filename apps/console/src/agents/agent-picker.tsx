import { use, type ReactNode } from 'react';
import type { AgentInfo } from '../api.ts';
import { ServerListsContext } from '../server-lists.ts';
import { useAgentColor } from './use-agent-color.ts';

/** Selects the agent that answers next. */
export function AgentPicker({
  agents,
  agent,
  onChoose,
}: {
  agents: readonly AgentInfo[];
  agent: string | undefined;
  onChoose: (agent: string) => void;
}): ReactNode {
  const getColor = useAgentColor();
  const { getKind } = use(ServerListsContext);
  if (agents.length === 0) return undefined;
  const shown = agent ?? getDefaultAgent(agents)?.name;
  return (
    <span className="agent-picker">
      <span className="dot" style={{ background: shown === undefined ? undefined : getColor(shown) }} />
      <select aria-label="Agent" value={shown} onChange={(event) => onChoose(event.target.value)}>
        {agents.map(({ name, kind }) => (
          <option key={name} value={name}>
            {name} · {getKind(kind).title}
          </option>
        ))}
      </select>
    </span>
  );
}

export function getDefaultAgent(agents: readonly AgentInfo[]): AgentInfo | undefined {
  return agents.find(({ isDefault }) => isDefault) ?? agents[0];
}
