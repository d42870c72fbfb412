import type { AgentEvent } from '@intertie/core';
import { describe, expect, it } from 'vitest';
import { EventAgents } from './event-agents.ts';

const feedAll = (events: AgentEvent[]): Array<string | undefined> => {
  const agents = new EventAgents();
  return events.map((event) => agents.feed(event));
};

describe('EventAgents', () => {
  it('attributes deltas, ends and results to the agent of their part', () => {
    expect(
      feedAll([
        { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm' },
        { type: 'agent-start', agentId: 'r:a', name: 'planner', kind: 'agent' },
        { type: 'step-start', stepId: 's', agentId: 'r:a' },
        { type: 'text-start', id: 'x', agentId: 'r:a' },
        { type: 'text-delta', id: 'x', delta: 'Hi' },
        { type: 'text-end', id: 'x' },
        { type: 'tool-call', toolCallId: 'c', toolName: 'f', input: {}, agentId: 'r:a' },
        { type: 'tool-result', toolCallId: 'c', status: 'ok', output: 1 },
        { type: 'step-end', stepId: 's' },
        { type: 'run-end', outcome: 'complete' },
      ]),
    ).toEqual([undefined, ...Array.from({ length: 8 }, () => 'planner'), undefined]);
  });

  it('keeps the agent of a tool call that starts another agent', () => {
    const agents = new EventAgents();
    agents.feed({ type: 'agent-start', agentId: 'a', name: 'boss', kind: 'agent' });
    agents.feed({ type: 'tool-call', toolCallId: 'c', toolName: 'ask', input: {}, agentId: 'a' });
    expect(agents.feed({ type: 'agent-start', agentId: 'b', name: 'helper', kind: 'agent', toolCallId: 'c' })).toBe(
      'helper',
    );
    expect(agents.feed({ type: 'tool-result', toolCallId: 'c', status: 'ok', output: null })).toBe('boss');
    expect(agents.names).toEqual(['boss', 'helper']);
  });

  it('reads the agents of a continued message from its snapshot', () => {
    const agents = new EventAgents();
    const content = { format: 2 as const, parts: [], agents: { x: { name: 'critic', kind: 'agent' as const } } };
    agents.feed({ type: 'message-snapshot', content });
    expect(agents.feed({ type: 'text-start', id: 'p', agentId: 'x' })).toBe('critic');
  });
});
