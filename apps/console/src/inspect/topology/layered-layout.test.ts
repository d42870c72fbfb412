import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { extentOf, fittingLayout, layeredLayout, type Graph, type Placed } from './layered-layout.ts';

const options = { nodeWidth: 100, nodeHeight: 40, gap: 20, layerGap: 40 };
const layersOf = (graph: Graph): string[][] => {
  const layers: string[][] = [];
  for (const { id, layer } of layeredLayout(graph, options)) (layers[layer] ??= []).push(id);
  return layers;
};
const edges = (...pairs: string[]) => pairs.map((pair) => ({ from: pair.charAt(0), to: pair.charAt(1) }));

describe('layeredLayout', () => {
  it('puts a swarm whose agents answer each other below its entry', () => {
    const graph = { nodes: ['w', 's', 'm'], edges: edges('sw', 'sm', 'ws', 'ms', 'wm', 'mw'), entry: 's' };
    expect(layersOf(graph)).toEqual([['s'], ['w', 'm']]);
    expect(layersOf({ ...graph, edges: edges('sw', 'sm', 'ws', 'ms') })).toEqual([['s'], ['w', 'm']]);
  });

  it('puts a flow in the order of its edges, a diamond in three layers', () => {
    expect(layersOf({ nodes: ['a', 'b', 'c', 'd'], edges: edges('ab', 'ac', 'bd', 'cd') })).toEqual([
      ['a'],
      ['b', 'c'],
      ['d'],
    ]);
  });

  it('avoids a crossing that it can see', () => {
    expect(layersOf({ nodes: ['a', 'b', 'x', 'y'], edges: edges('ay', 'bx') })).toEqual([
      ['a', 'b'],
      ['y', 'x'],
    ]);
  });

  it('takes loops, unknown names and no edges at all', () => {
    expect(layersOf({ nodes: ['a', 'b'], edges: edges('aa', 'aq', 'qa') })).toEqual([['a', 'b']]);
    expect(layeredLayout({ nodes: [], edges: [] }, options)).toEqual([]);
  });

  it('draws the same picture whatever the order of the edges, every node once and none over another', () => {
    const nodes = ['a', 'b', 'c', 'd', 'e', 'f'];
    const arbitraryEdges = fc.array(fc.record({ from: fc.constantFrom(...nodes), to: fc.constantFrom(...nodes) }));
    const arbitraryTwo = arbitraryEdges.chain((some) =>
      fc.tuple(fc.constant(some), fc.shuffledSubarray(some, { minLength: some.length })),
    );
    fc.assert(
      fc.property(arbitraryTwo, fc.option(fc.constantFrom(...nodes), { nil: undefined }), ([one, other], entry) => {
        const draw = (some: Graph['edges']): Placed[] =>
          layeredLayout({ nodes, edges: some, ...(entry && { entry }) }, options);
        const placed = draw(one);
        expect(draw(other)).toEqual(placed);
        expect(placed.map(({ id }) => id).toSorted()).toEqual(nodes);
        expect(new Set(placed.map(({ x, y }) => `${x} ${y}`)).size).toBe(nodes.length);
      }),
    );
  });
});

describe('fittingLayout', () => {
  const fan = { nodes: ['s', 'a', 'b', 'c', 'd'], edges: edges('sa', 'sb', 'sc', 'sd') };

  it('goes down where there is width, and to the right where there is height', () => {
    const wide = fittingLayout(fan, options, { width: 600, height: 300 });
    const high = fittingLayout(fan, options, { width: 260, height: 600 });
    expect(extentOf(wide, options)).toEqual({ width: 460, height: 120 });
    expect(extentOf(high, options)).toEqual({ width: 240, height: 220 });
  });
});
