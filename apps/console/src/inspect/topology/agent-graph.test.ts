import type { AgentEvent } from '@intertie/core';
import { describe, expect, it } from 'vitest';
import { TopologyActivity } from './agent-activity.ts';
import { buildAgentGraph } from './agent-graph.ts';

const options = { nodeWidth: 100, nodeHeight: 40, gap: 20, layerGap: 40 };
const available = { width: 1000, height: 1000 };
const feedAll = (...events: AgentEvent[]): TopologyActivity => {
  const activity = new TopologyActivity();
  for (const event of events) activity.feed(event);
  return activity;
};

describe('buildAgentGraph', () => {
  const topology = {
    entry: 'boss',
    agents: [
      { name: 'helper', kind: 'agent' as const, description: 'Helps' },
      { name: 'boss', kind: 'agent' as const },
    ],
    edges: [
      { from: 'boss', to: 'helper' },
      { from: 'helper', to: 'boss' },
    ],
  };
  const run = feedAll(
    { type: 'agent-start', agentId: 'b', name: 'boss', kind: 'agent' },
    { type: 'agent-start', agentId: 'x', name: 'stranger', kind: 'agent', parentAgentId: 'b' },
    { type: 'text-start', id: 't', agentId: 'b', to: ['helper', 'all'] },
  );

  it('shows events without an agent as those of the entry', () => {
    const alone = { entry: 'boss', agents: [{ name: 'boss', kind: 'agent' as const }], edges: [] };
    const activity = feedAll({ type: 'text-start', id: 't' }, { type: 'run-end', outcome: 'complete' });
    const { nodes } = buildAgentGraph(alone, activity, options, available);
    expect(nodes).toMatchObject([{ name: 'boss', activity: { state: 'complete', events: 2 } }]);
  });

  it('draws a voice only if the topology declares it', () => {
    const speak = (name: string): AgentEvent => ({ type: 'agent-start', agentId: name, name, kind: 'voice' });
    const { nodes } = buildAgentGraph(topology, feedAll(speak('boss'), speak('narrator')), options, available);
    expect(nodes.map(({ name, activity }) => [name, activity?.kind])).toEqual([
      ['boss', 'voice'],
      ['helper', undefined],
    ]);
  });

  it('joins declared and observed agents by name', () => {
    const { nodes, edges } = buildAgentGraph(topology, run, options, available);
    expect(nodes.map(({ name, isEntry, activity }) => [name, isEntry, activity?.state])).toEqual([
      ['boss', true, 'working'],
      ['helper', false, undefined],
      ['stranger', false, 'working'],
    ]);
    expect(
      edges.map(({ from, to, isDeclared, isMutual, activity }) => [from, to, isDeclared, isMutual, activity?.messages]),
    ).toEqual([
      ['boss', 'helper', true, true, 1],
      ['helper', 'boss', true, true, undefined],
      ['boss', 'stranger', false, false, 0],
    ]);
  });

  it('infers that a flow followed an edge from the order of its nodes', () => {
    const node = (name: string): AgentEvent => ({ type: 'agent-start', agentId: name, name, kind: 'node' });
    const flow = {
      agents: ['plan', 'write', 'check'].map((name) => ({ name, kind: 'node' as const })),
      edges: [
        { from: 'plan', to: 'write' },
        { from: 'plan', to: 'check' },
      ],
    };
    const activity = feedAll(
      node('check'),
      node('plan'),
      { type: 'agent-end', agentId: 'plan', outcome: 'complete' },
      node('write'),
    );
    const { edges } = buildAgentGraph(flow, activity, options, available);
    expect(edges.map(({ to, activity: edge }) => [to, edge?.starts])).toEqual([
      ['write', 1],
      ['check', undefined],
    ]);
  });

  it('builds the graph from the run alone without a declared topology', () => {
    const { nodes } = buildAgentGraph(undefined, run, options, available);
    expect(nodes.map(({ name }) => name)).toEqual(['boss', 'stranger']);
    expect(buildAgentGraph(undefined, feedAll(), options, available)).toEqual({ nodes: [], edges: [] });
  });

  it('keeps the positions while the run grows', () => {
    const positions = (activity: TopologyActivity): unknown =>
      buildAgentGraph(topology, activity, options, available).nodes.map(({ name, x, y }) => [name, x, y]);
    const later = feedAll({ type: 'agent-start', agentId: 'b', name: 'boss', kind: 'agent' });
    expect(positions(later)).toEqual(positions(feedAll()));
  });
});
