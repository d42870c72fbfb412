import type { Topology } from '@intertie/core';
import { edgeKey, type AgentActivity, type EdgeActivity, type TopologyActivity } from './agent-activity.ts';
import { fittingLayout, type LayoutOptions } from './layered-layout.ts';

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
  /** Whether the other way is an edge too: then the two are drawn side by side. */
  isMutual: boolean;
  /** Whether the runtime has declared it; others were only seen. */
  isDeclared: boolean;
  activity: EdgeActivity | undefined;
};
export type AgentGraph = { nodes: AgentNode[]; edges: AgentEdge[] };

/** What a runtime says of its agents and what was seen of them in a run, in one graph. */
export function agentGraph(
  topology: Topology | undefined,
  activity: TopologyActivity,
  options: LayoutOptions,
  room: { width: number; height: number },
): AgentGraph {
  const agents = new Map<string, Pick<AgentNode, 'name' | 'kind' | 'description'>>();
  for (const agent of topology?.agents ?? []) agents.set(agent.name, agent);
  for (const { name, kind } of activity.agents.values()) if (!agents.has(name)) agents.set(name, { name, kind });

  const edges = new Map<string, Omit<AgentEdge, 'isMutual'>>();
  for (const { from, to, label } of topology?.edges ?? []) {
    const id = edgeKey(from, to);
    edges.set(id, {
      id,
      from,
      to,
      isDeclared: true,
      activity: activity.edges.get(id) ?? passedAlong(activity, from, to),
      ...(label !== undefined && { label }),
    });
  }
  for (const [id, seen] of activity.edges) {
    // A name that is no agent's is that of everybody, or of a person.
    if (edges.has(id) || !agents.has(seen.from) || !agents.has(seen.to)) continue;
    edges.set(id, { id, from: seen.from, to: seen.to, isDeclared: false, activity: seen });
  }

  const list = [...edges.values()];
  const entry = topology?.entry;
  const placed = fittingLayout(
    { nodes: [...agents.keys()], edges: list, ...(entry !== undefined && { entry }) },
    options,
    room,
  );
  const nodes: AgentNode[] = [];
  for (const { id, x, y } of placed) {
    nodes.push({ ...agents.get(id)!, isEntry: id === entry, activity: activity.agents.get(id), x, y });
  }
  const both: AgentEdge[] = [];
  for (const edge of list) both.push({ ...edge, isMutual: edges.has(edgeKey(edge.to, edge.from)) });
  return { nodes, edges: both };
}

/** A flow need not say that it went along an edge: a node that begins after the one before it is complete shows it. */
function passedAlong({ agents }: TopologyActivity, from: string, to: string): EdgeActivity | undefined {
  const before = agents.get(from);
  const after = agents.get(to);
  if (before?.kind !== 'node' || after?.kind !== 'node') return undefined;
  const passed = after.starts.filter((start) => before.completions.some((end) => end < start));
  const lastEvent = passed.at(-1);
  return lastEvent === undefined ? undefined : { from, to, messages: 0, starts: passed.length, lastEvent };
}
