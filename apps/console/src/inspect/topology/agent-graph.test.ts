import type { AgentEvent } from '@intertie/core';
import { describe, expect, it } from 'vitest';
import { TopologyActivity } from './agent-activity.ts';
import { agentGraph } from './agent-graph.ts';

const options = { nodeWidth: 100, nodeHeight: 40, gap: 20, layerGap: 40 };
const room = { width: 1000, height: 1000 };
const seen = (...events: AgentEvent[]): TopologyActivity => {
  const activity = new TopologyActivity();
  for (const event of events) activity.feed(event);
  return activity;
};

describe('agentGraph', () => {
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
  const run = seen(
    { type: 'agent-start', agentId: 'b', name: 'boss', kind: 'agent' },
    { type: 'agent-start', agentId: 'x', name: 'stranger', kind: 'agent', parentAgentId: 'b' },
    { type: 'text-start', id: 't', agentId: 'b', to: ['helper', 'all'] },
  );

  it('joins what was declared and what was seen, by name', () => {
    const { nodes, edges } = agentGraph(topology, run, options, room);
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

  it('sees that a flow went along an edge by what began after what', () => {
    const node = (name: string): AgentEvent => ({ type: 'agent-start', agentId: name, name, kind: 'node' });
    const flow = {
      agents: ['plan', 'write', 'check'].map((name) => ({ name, kind: 'node' as const })),
      edges: [
        { from: 'plan', to: 'write' },
        { from: 'plan', to: 'check' },
      ],
    };
    const passed = seen(
      node('check'),
      node('plan'),
      { type: 'agent-end', agentId: 'plan', outcome: 'complete' },
      node('write'),
    );
    expect(agentGraph(flow, passed, options, room).edges.map(({ to, activity }) => [to, activity?.starts])).toEqual([
      ['write', 1],
      ['check', undefined],
    ]);
  });

  it('is drawn from the run alone where a runtime says nothing', () => {
    expect(agentGraph(undefined, run, options, room).nodes.map(({ name }) => name)).toEqual(['boss', 'stranger']);
    expect(agentGraph(undefined, seen(), options, room)).toEqual({ nodes: [], edges: [] });
  });

  it('stays where it is while the run goes on', () => {
    const places = (activity: TopologyActivity): unknown =>
      agentGraph(topology, activity, options, room).nodes.map(({ name, x, y }) => [name, x, y]);
    const later = seen({ type: 'agent-start', agentId: 'b', name: 'boss', kind: 'agent' });
    expect(places(later)).toEqual(places(seen()));
  });
});
