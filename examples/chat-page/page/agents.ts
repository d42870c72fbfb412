import type { UIMessage } from 'ai';

export interface Agent {
  name: string;
  /** Index into the page's colours. */
  colour: number;
}

type Part = UIMessage['parts'][number];

const colours = 6;

/** Collects the agents of a message: `data-agent` parts introduce them with the id that their other parts refer to. */
export function getAgents(parts: readonly Part[]): Map<string, Agent> {
  const agents = new Map<string, Agent>();
  for (const part of parts) {
    if (part.type !== 'data-agent') continue;
    const { agentId, name } = part.data as { agentId: string; name: string };
    agents.set(agentId, { name, colour: hashToColour(name) });
  }
  return agents;
}

/** Returns the id of the agent that emitted a part. */
export function getAgentId(part: Part): string | undefined {
  const metadata =
    'callProviderMetadata' in part
      ? part.callProviderMetadata
      : 'providerMetadata' in part
        ? part.providerMetadata
        : undefined;
  const agentId = metadata?.intertie?.agentId;
  return typeof agentId === 'string' ? agentId : undefined;
}

/** Hashes a name to a colour, so that an agent has the same colour in every message. */
function hashToColour(name: string): number {
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + (letter.codePointAt(0) as number)) % 9973;
  return sum % colours;
}
