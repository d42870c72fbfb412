import type { Topology } from '@intertie/core/internal';
import type { FlowLike, RunSnapshot } from '../runtime/runtime.ts';

/** Converts a flow to a topology. Its entry is the first node without an incoming edge. */
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

/** Reconstructs a flow from a snapshot: all nodes, and the edges whose key is `from->to` instead of a name. */
export function toFlow({ nodeStatus = {}, edgeStatus = {} }: RunSnapshot): FlowLike {
  const nodes = Object.keys(nodeStatus).map((id) => ({ id }));
  const edges = Object.keys(edgeStatus).flatMap((key) => {
    const [from, to, ...more] = key.split('->');
    return from && to && more.length === 0 ? [{ from, to }] : [];
  });
  return { name: '', nodes, edges };
}
