import type { AgentEvent } from '@intertie/core';
import { describe, expect, it } from 'vitest';
import { toEdgeKey, TopologyActivity } from './agent-activity.ts';

const feedAll = (...events: AgentEvent[]): TopologyActivity => {
  const activity = new TopologyActivity();
  for (const event of events) activity.feed(event);
  return activity;
};
const start = (name: string, parent?: string, nth = 0): AgentEvent => ({
  type: 'agent-start',
  agentId: `r:${name}:${nth}`,
  name,
  kind: 'agent',
  ...(parent && { parentAgentId: `r:${parent}:0` }),
});

describe('TopologyActivity', () => {
  it('counts starts and messages between agents', () => {
    const { edges, agents } = feedAll(
      start('boss'),
      start('helper', 'boss'),
      { type: 'text-start', id: 'x', agentId: 'r:boss:0', to: ['helper', 'critic'], internal: true },
      { type: 'text-delta', id: 'x', delta: 'Look.' },
      { type: 'text-end', id: 'x' },
      { type: 'interjection', id: 'y', agentId: 'r:boss:0', to: ['helper'], role: 'system', parts: [] },
      start('helper', 'boss', 1),
    );
    expect(edges.get(toEdgeKey('boss', 'helper'))).toMatchObject({ starts: 2, messages: 2 });
    expect(edges.get(toEdgeKey('boss', 'critic'))).toMatchObject({ starts: 0, messages: 1 });
    expect(agents.get('boss')).toMatchObject({ state: 'working', events: 5, lastEvent: 5 });
  });

  it('counts how often a flow follows an edge', () => {
    const fired: AgentEvent = {
      type: 'data',
      id: 'x',
      name: 'edge',
      data: { from: 'plan', to: 'write' },
      transient: true,
    };
    const { edges } = feedAll(fired, { ...fired, id: 'y' }, { ...fired, id: 'z', data: 'plan' });
    expect([...edges.values()]).toMatchObject([{ from: 'plan', to: 'write', messages: 2 }]);
  });

  it('keeps an agent working until its last invocation ends', () => {
    const activity = feedAll(start('a'), start('a', undefined, 1));
    activity.feed({ type: 'agent-end', agentId: 'r:a:0', outcome: 'complete' });
    expect(activity.agents.get('a')?.state).toBe('working');
    activity.feed({ type: 'agent-end', agentId: 'r:a:1', outcome: 'error', error: { message: 'no' } });
    expect(activity.agents.get('a')?.state).toBe('error');
  });

  it('ends working agents with the run', () => {
    const activity = feedAll(start('a'), { type: 'run-end', outcome: 'aborted', by: 'user' });
    expect(activity.agents.get('a')?.state).toBe('aborted');
  });

  it('counts events without an agent separately', () => {
    const activity = feedAll(
      { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm' },
      { type: 'text-start', id: 'x' },
      { type: 'run-end', outcome: 'complete' },
    );
    expect(activity.agents.size).toBe(0);
    expect(activity.unnamed).toMatchObject({ state: 'complete', events: 3 });
  });
});
