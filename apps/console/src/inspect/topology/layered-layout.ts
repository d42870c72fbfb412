import { groupBy } from '../group-by.ts';

export type Graph = { nodes: readonly string[]; edges: ReadonlyArray<{ from: string; to: string }>; entry?: string };
export type Placed = { id: string; layer: number; x: number; y: number };
export type LayoutOptions = {
  nodeWidth: number;
  nodeHeight: number;
  /** Between the nodes of a layer. */
  gap: number;
  /** Between layers. */
  layerGap: number;
  /** Where the next layer is. Default: down. */
  direction?: 'down' | 'right';
};

/**
 * A layered layout: the entry first, then who it leads to, layer by layer. The same graph gives the same picture, whatever
 * the order of its edges. Layers are longest paths once the edges that lead back are left out; within a layer nodes stand
 * near their neighbours of the layer before (four sweeps of barycentres), and ties go by the order of the nodes.
 */
export function layeredLayout(graph: Graph, options: LayoutOptions): Placed[] {
  const order = new Map(graph.nodes.map((id, index) => [id, index]));
  const edges = uniqueEdges(graph, order);
  const forward = withoutBackEdges(graph, edges);
  const layerOf = layersOf(graph.nodes, forward);
  const layers: string[][] = [];
  for (const id of graph.nodes) (layers[layerOf.get(id)!] ??= []).push(id);
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

/** The room that a layout takes. */
export function extentOf(
  placed: ReadonlyArray<{ x: number; y: number }>,
  { nodeWidth, nodeHeight }: Pick<LayoutOptions, 'nodeWidth' | 'nodeHeight'>,
): { width: number; height: number } {
  return {
    width: Math.max(0, ...placed.map(({ x }) => x)) + nodeWidth,
    height: Math.max(0, ...placed.map(({ y }) => y)) + nodeHeight,
  };
}

/** Laid out down or to the right, whichever is larger in the room that there is. */
export function fittingLayout(graph: Graph, options: LayoutOptions, room: { width: number; height: number }): Placed[] {
  const sizeOf = (placed: Placed[]): number => {
    const { width, height } = extentOf(placed, options);
    return Math.min(1, room.width / width, room.height / height);
  };
  const down = layeredLayout(graph, { ...options, direction: 'down' });
  const right = layeredLayout(graph, { ...options, direction: 'right' });
  return sizeOf(right) > sizeOf(down) ? right : down;
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
 * By breadth from the entry: an edge to a node that was reached earlier leads back, and one that goes both ways between two
 * that are equally far leads sideways. A swarm in which everybody may write to everybody is thus no chain.
 */
function withoutBackEdges({ nodes, entry }: Graph, edges: readonly Edge[]): Edge[] {
  const targets = groupBy(edges, ({ from }) => from);
  const hasWayIn = new Set(edges.map(({ to }) => to));
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
  for (const id of nodes) if (!hasWayIn.has(id)) reach(id);
  for (const id of nodes) reach(id);
  return edges.filter(({ from, to }) => {
    const a = reached.get(from)!;
    const b = reached.get(to)!;
    const isSideways = a.depth === b.depth && targets.get(to)?.some((back) => back.to === from);
    return a.order < b.order && !isSideways;
  });
}

function layersOf(nodes: readonly string[], edges: readonly Edge[]): Map<string, number> {
  const sources = groupBy(edges, ({ to }) => to);
  const layers = new Map<string, number>();
  const layerOf = (id: string): number => {
    const known = layers.get(id);
    if (known !== undefined) return known;
    const layer = Math.max(-1, ...(sources.get(id) ?? []).map(({ from }) => layerOf(from))) + 1;
    layers.set(id, layer);
    return layer;
  };
  for (const id of nodes) layerOf(id);
  return layers;
}

function sweep(layers: string[][], edges: readonly Edge[], order: Map<string, number>): void {
  const above = groupBy(edges, ({ to }) => to);
  const below = groupBy(edges, ({ from }) => from);
  for (let round = 0; round < 4; round++) {
    const isDown = round % 2 === 0;
    const places = new Map(
      layers.flatMap((layer) => layer.map((id, place) => [id, place - layer.length / 2] as const)),
    );
    const near = (id: string): number => {
      const ids = isDown ? above.get(id)?.map(({ from }) => from) : below.get(id)?.map(({ to }) => to);
      return ids?.length ? ids.reduce((sum, other) => sum + places.get(other)!, 0) / ids.length : places.get(id)!;
    };
    for (const layer of isDown ? layers : layers.toReversed()) {
      layer.sort((a, b) => near(a) - near(b) || order.get(a)! - order.get(b)!);
      for (const [place, id] of layer.entries()) places.set(id, place - layer.length / 2);
    }
  }
}
