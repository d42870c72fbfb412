import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  computeExtent,
  computeFittingLayout,
  computeLayeredLayout,
  type Graph,
  type Placed,
} from './layered-layout.ts';

const options = { nodeWidth: 100, nodeHeight: 40, gap: 20, layerGap: 40 };
const getLayers = (graph: Graph): string[][] => {
  const layers: string[][] = [];
  for (const { id, layer } of computeLayeredLayout(graph, options)) (layers[layer] ??= []).push(id);
  return layers;
};
const edges = (...pairs: string[]) => pairs.map((pair) => ({ from: pair.charAt(0), to: pair.charAt(1) }));

describe('computeLayeredLayout', () => {
  it('puts agents that answer each other below the entry', () => {
    const graph = { nodes: ['w', 's', 'm'], edges: edges('sw', 'sm', 'ws', 'ms', 'wm', 'mw'), entry: 's' };
    expect(getLayers(graph)).toEqual([['s'], ['w', 'm']]);
    expect(getLayers({ ...graph, edges: edges('sw', 'sm', 'ws', 'ms') })).toEqual([['s'], ['w', 'm']]);
  });

  it('orders a flow by its edges', () => {
    expect(getLayers({ nodes: ['a', 'b', 'c', 'd'], edges: edges('ab', 'ac', 'bd', 'cd') })).toEqual([
      ['a'],
      ['b', 'c'],
      ['d'],
    ]);
  });

  it('avoids crossings between neighboring layers', () => {
    expect(getLayers({ nodes: ['a', 'b', 'x', 'y'], edges: edges('ay', 'bx') })).toEqual([
      ['a', 'b'],
      ['y', 'x'],
    ]);
  });

  it('ignores loops and unknown names and accepts an empty graph', () => {
    expect(getLayers({ nodes: ['a', 'b'], edges: edges('aa', 'aq', 'qa') })).toEqual([['a', 'b']]);
    expect(computeLayeredLayout({ nodes: [], edges: [] }, options)).toEqual([]);
  });

  it('places every node once without overlap, independent of the order of the edges', () => {
    const nodes = ['a', 'b', 'c', 'd', 'e', 'f'];
    const arbitraryEdges = fc.array(fc.record({ from: fc.constantFrom(...nodes), to: fc.constantFrom(...nodes) }));
    const arbitraryTwo = arbitraryEdges.chain((some) =>
      fc.tuple(fc.constant(some), fc.shuffledSubarray(some, { minLength: some.length })),
    );
    fc.assert(
      fc.property(arbitraryTwo, fc.option(fc.constantFrom(...nodes), { nil: undefined }), ([one, other], entry) => {
        const draw = (some: Graph['edges']): Placed[] =>
          computeLayeredLayout({ nodes, edges: some, ...(entry && { entry }) }, options);
        const placed = draw(one);
        expect(draw(other)).toEqual(placed);
        expect(placed.map(({ id }) => id).toSorted()).toEqual(nodes);
        expect(new Set(placed.map(({ x, y }) => `${x} ${y}`)).size).toBe(nodes.length);
      }),
    );
  });
});

describe('computeFittingLayout', () => {
  const fan = { nodes: ['s', 'a', 'b', 'c', 'd'], edges: edges('sa', 'sb', 'sc', 'sd') };

  it('chooses the direction that fits the available size', () => {
    const wide = computeFittingLayout(fan, options, { width: 600, height: 300 });
    const high = computeFittingLayout(fan, options, { width: 260, height: 600 });
    expect(computeExtent(wide, options)).toEqual({ width: 460, height: 120 });
    expect(computeExtent(high, options)).toEqual({ width: 240, height: 220 });
  });
});
