import type { UIMessage } from 'ai';

export interface Agent {
  name: string;
  /** Which of the page's colours is its own. */
  colour: number;
}

type Part = UIMessage['parts'][number];

const colours = 6;

/** Who speaks in a message: `data-agent` parts introduce them, by the id that their other parts carry. */
export function agentsOf(parts: readonly Part[]): Map<string, Agent> {
  const agents = new Map<string, Agent>();
  for (const part of parts) {
    if (part.type !== 'data-agent') continue;
    const { agentId, name } = part.data as { agentId: string; name: string };
    agents.set(agentId, { name, colour: colourOf(name) });
  }
  return agents;
}

/** The agent of a part. */
export function agentIdOf(part: Part): string | undefined {
  const metadata =
    'callProviderMetadata' in part
      ? part.callProviderMetadata
      : 'providerMetadata' in part
        ? part.providerMetadata
        : undefined;
  const agentId = metadata?.intertie?.agentId;
  return typeof agentId === 'string' ? agentId : undefined;
}

/** The same name has the same colour, in every message. */
function colourOf(name: string): number {
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + (letter.codePointAt(0) as number)) % 9973;
  return sum % colours;
}
