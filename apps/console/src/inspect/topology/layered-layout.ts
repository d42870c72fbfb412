import { groupBy } from '../group-by.ts';

export type Graph = { nodes: readonly string[]; edges: ReadonlyArray<{ from: string; to: string }>; entry?: string };
export type Placed = { id: string; layer: number; x: number; y: number };
export type LayoutOptions = {
  nodeWidth: number;
  nodeHeight: number;
  /** Distance between the nodes of a layer. */
  gap: number;
  /** Distance between layers. */
  layerGap: number;
  /** Direction to the next layer. Default: down. */
  direction?: 'down' | 'right';
};

/**
 * Computes a layered layout that starts with the entry. Deterministic, and independent of the order of the edges. The layer of a
 * node is its longest path after removal of back edges. Within a layer, four barycenter sweeps put nodes near their neighbors; the
 * order of the nodes breaks ties.
 */
export function computeLayeredLayout(graph: Graph, options: LayoutOptions): Placed[] {
  const order = new Map(graph.nodes.map((id, index) => [id, index]));
  const edges = uniqueEdges(graph, order);
  const forward = removeBackEdges(graph, edges);
  const layerByNode = assignLayers(graph.nodes, forward);
  const layers: string[][] = [];
  for (const id of graph.nodes) (layers[layerByNode.get(id)!] ??= []).push(id);
  sweep(layers, forward, order);
  const { nodeWidth, nodeHeight, gap, layerGap, direction = 'down' } = options;
  const widest = Math.max(0, ...layers.map(({ length }) => length));
  return layers.flatMap((layer, index) =>
    layer.map((id, place) => {
      const along = place + (widest - layer.length) / 2;
      return direction === 'down'
        ? { id, layer: index, x: along * (nodeWidth + gap), y: index * (nodeHeight + layerGap) }
        : { id, layer: index, x: index * (nodeWidth + layerGap), y: along * (nodeHeight + gap) };
    }),
  );
}

/** Computes the size of a layout. */
export function computeExtent(
  placed: ReadonlyArray<{ x: number; y: number }>,
  { nodeWidth, nodeHeight }: Pick<LayoutOptions, 'nodeWidth' | 'nodeHeight'>,
): { width: number; height: number } {
  return {
    width: Math.max(0, ...placed.map(({ x }) => x)) + nodeWidth,
    height: Math.max(0, ...placed.map(({ y }) => y)) + nodeHeight,
  };
}

/** Lays the graph out downward or to the right, whichever can be shown larger in the available size. */
export function computeFittingLayout(
  graph: Graph,
  options: LayoutOptions,
  available: { width: number; height: number },
): Placed[] {
  const getScale = (placed: Placed[]): number => {
    const { width, height } = computeExtent(placed, options);
    return Math.min(1, available.width / width, available.height / height);
  };
  const down = computeLayeredLayout(graph, { ...options, direction: 'down' });
  const right = computeLayeredLayout(graph, { ...options, direction: 'right' });
  return getScale(right) > getScale(down) ? right : down;
}

type Edge = { from: string; to: string };

function uniqueEdges({ edges }: Graph, order: Map<string, number>): Edge[] {
  const seen = new Map<string, Edge>();
  for (const { from, to } of edges) {
    if (from !== to && order.has(from) && order.has(to)) seen.set(JSON.stringify([from, to]), { from, to });
  }
  const at = (id: string): number => order.get(id)!;
  return [...seen.values()].toSorted((a, b) => at(a.from) - at(b.from) || at(a.to) - at(b.to));
}

/**
 * Removes edges to nodes that a breadth-first search from the entry reached earlier, and mutual edges between nodes of the same
 * depth. The latter keeps a swarm in which all agents write to each other from becoming a chain.
 */
function removeBackEdges({ nodes, entry }: Graph, edges: readonly Edge[]): Edge[] {
  const targets = groupBy(edges, ({ from }) => from);
  const hasIncoming = new Set(edges.map(({ to }) => to));
  const reached = new Map<string, { order: number; depth: number }>();
  const reach = (start: string): void => {
    if (reached.has(start)) return;
    reached.set(start, { order: reached.size, depth: 0 });
    const queue = [start];
    for (const id of queue) {
      for (const { to } of targets.get(id) ?? []) {
        if (reached.has(to)) continue;
        reached.set(to, { order: reached.size, depth: reached.get(id)!.depth + 1 });
        queue.push(to);
      }
    }
  };
  if (entry !== undefined && nodes.includes(entry)) reach(entry);
  for (const id of nodes) if (!hasIncoming.has(id)) reach(id);
  for (const id of nodes) reach(id);
  return edges.filter(({ from, to }) => {
    const a = reached.get(from)!;
    const b = reached.get(to)!;
    const isSideways = a.depth === b.depth && targets.get(to)?.some((back) => back.to === from);
    return a.order < b.order && !isSideways;
  });
}

function assignLayers(nodes: readonly string[], edges: readonly Edge[]): Map<string, number> {
  const sources = groupBy(edges, ({ to }) => to);
  const layers = new Map<string, number>();
  const visit = (id: string): number => {
    const known = layers.get(id);
    if (known !== undefined) return known;
    const layer = Math.max(-1, ...(sources.get(id) ?? []).map(({ from }) => visit(from))) + 1;
    layers.set(id, layer);
    return layer;
  };
  for (const id of nodes) visit(id);
  return layers;
}

/** Reorders the nodes of each layer by the mean position of their neighbors. */
function sweep(layers: string[][], edges: readonly Edge[], order: Map<string, number>): void {
  const above = groupBy(edges, ({ to }) => to);
  const below = groupBy(edges, ({ from }) => from);
  for (let round = 0; round < 4; round++) {
    const isDown = round % 2 === 0;
    const positions = new Map(
      layers.flatMap((layer) => layer.map((id, index) => [id, index - layer.length / 2] as const)),
    );
    const barycenter = (id: string): number => {
      const ids = isDown ? above.get(id)?.map(({ from }) => from) : below.get(id)?.map(({ to }) => to);
      if (!ids?.length) return positions.get(id)!;
      return ids.reduce((sum, other) => sum + positions.get(other)!, 0) / ids.length;
    };
    for (const layer of isDown ? layers : layers.toReversed()) {
      layer.sort((a, b) => barycenter(a) - barycenter(b) || order.get(a)! - order.get(b)!);
      for (const [index, id] of layer.entries()) positions.set(id, index - layer.length / 2);
    }
  }
}
