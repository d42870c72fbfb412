import type { Topology } from '@intertie/core';
import type { FlowLike, RunSnapshot } from '../runtime/runtime.ts';

/** The flow as it is drawn. It begins where no edge leads. */
export function toTopology(flow: FlowLike | undefined): Topology {
  const { nodes, edges } = flow ?? { nodes: [], edges: [] };
  const entry = nodes.find(({ id }) => !edges.some(({ to }) => to === id)) ?? nodes[0];
  return {
    ...(entry && { entry: entry.id }),
    agents: nodes.map(({ id, description }) =>
      description === undefined ? { name: id, kind: 'node' } : { name: id, kind: 'node', description },
    ),
    edges: edges.map(({ from, to, when }) => (typeof when === 'string' ? { from, to, label: when } : { from, to })),
  };
}

/** What a runtime's snapshot gives away: all nodes, and those edges that have no name of their own. */
export function toFlow({ nodeStatus = {}, edgeStatus = {} }: RunSnapshot): FlowLike {
  const nodes = Object.keys(nodeStatus).map((id) => ({ id }));
  const edges = Object.keys(edgeStatus).flatMap((key) => {
    const [from, to, ...more] = key.split('->');
    return from && to && more.length === 0 ? [{ from, to }] : [];
  });
  return { name: '', nodes, edges };
}
