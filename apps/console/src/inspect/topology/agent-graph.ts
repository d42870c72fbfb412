import type { Topology } from '@intertie/core/internal';
import { toEdgeKey, type AgentActivity, type EdgeActivity, type TopologyActivity } from './agent-activity.ts';
import { computeFittingLayout, type LayoutOptions } from './layered-layout.ts';

export type AgentNode = {
  name: string;
  kind: 'agent' | 'node';
  description?: string;
  isEntry: boolean;
  activity: AgentActivity | undefined;
  x: number;
  y: number;
};
export type AgentEdge = {
  id: string;
  from: string;
  to: string;
  label?: string;
  /** Whether the opposite edge exists too; both are then drawn next to each other. */
  isMutual: boolean;
  /** Whether the runtime declared the edge; others were only observed. */
  isDeclared: boolean;
  activity: EdgeActivity | undefined;
};
export type AgentGraph = { nodes: AgentNode[]; edges: AgentEdge[] };

/** Combines the declared topology and the activity of a run in one graph with positions. */
export function buildAgentGraph(
  topology: Topology | undefined,
  activity: TopologyActivity,
  options: LayoutOptions,
  available: { width: number; height: number },
): AgentGraph {
  const agents = new Map<string, Pick<AgentNode, 'name' | 'kind' | 'description'>>();
  for (const agent of topology?.agents ?? []) agents.set(agent.name, agent);
  for (const { name, kind } of activity.agents.values()) {
    if (!agents.has(name) && kind !== 'voice') agents.set(name, { name, kind });
  }

  const edges = new Map<string, Omit<AgentEdge, 'isMutual'>>();
  for (const { from, to, label } of topology?.edges ?? []) {
    const id = toEdgeKey(from, to);
    edges.set(id, {
      id,
      from,
      to,
      isDeclared: true,
      activity: activity.edges.get(id) ?? inferEdgeActivity(activity, from, to),
      ...(label !== undefined && { label }),
    });
  }
  for (const [id, seen] of activity.edges) {
    // Recipients that are not agents are users or broadcast names.
    if (edges.has(id) || !agents.has(seen.from) || !agents.has(seen.to)) continue;
    edges.set(id, { id, from: seen.from, to: seen.to, isDeclared: false, activity: seen });
  }

  const list = [...edges.values()];
  const entry = topology?.entry;
  const placed = computeFittingLayout(
    { nodes: [...agents.keys()], edges: list, ...(entry !== undefined && { entry }) },
    options,
    available,
  );
  const nodes: AgentNode[] = [];
  for (const { id, x, y } of placed) {
    const seen = activity.agents.get(id) ?? (id === entry ? activity.unnamed : undefined);
    nodes.push({ ...agents.get(id)!, isEntry: id === entry, activity: seen, x, y });
  }
  const withMutual: AgentEdge[] = [];
  for (const edge of list) withMutual.push({ ...edge, isMutual: edges.has(toEdgeKey(edge.to, edge.from)) });
  return { nodes, edges: withMutual };
}

/** Infers that a flow followed an edge if the target node started after the source node completed. */
function inferEdgeActivity({ agents }: TopologyActivity, from: string, to: string): EdgeActivity | undefined {
  const before = agents.get(from);
  const after = agents.get(to);
  if (before?.kind !== 'node' || after?.kind !== 'node') return undefined;
  const passed = after.starts.filter((start) => before.completions.some((end) => end < start));
  const lastEvent = passed.at(-1);
  return lastEvent === undefined ? undefined : { from, to, messages: 0, starts: passed.length, lastEvent };
}
