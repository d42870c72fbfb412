import type { AgentEvent } from '@intertie/core';
import { expect, it } from 'vitest';
import { RunUsage } from './run-usage.ts';

const sumEvents = (...events: AgentEvent[]): RunUsage['total'] => {
  const usage = new RunUsage();
  for (const event of events) usage.record(event);
  return usage.total;
};
const createStep = (stepId: string, inputTokens: number, agentId?: string): AgentEvent[] => [
  { type: 'step-start', stepId, ...(agentId !== undefined && { agentId }) },
  { type: 'step-end', stepId, usage: [{ model: 'm', inputTokens }] },
];

it('sums steps by model', () => {
  const other: AgentEvent = { type: 'step-end', stepId: 's3', usage: [{ model: 'n', outputTokens: 1 }] };
  expect(sumEvents(...createStep('s1', 1), ...createStep('s2', 2), other)).toEqual([
    { model: 'm', inputTokens: 3 },
    { model: 'n', outputTokens: 1 },
  ]);
});

it('uses the usage of an agent instead of its steps, and of steps where the agent reports none', () => {
  const end: AgentEvent = {
    type: 'agent-end',
    agentId: 'a',
    outcome: 'complete',
    usage: [{ model: 'm', inputTokens: 10 }],
  };
  expect(sumEvents(...createStep('s1', 1, 'a'), ...createStep('s2', 2, 'b'), end)).toEqual([
    { model: 'm', inputTokens: 12 },
  ]);
});

it('returns undefined if no usage was reported', () => {
  expect(sumEvents({ type: 'step-end', stepId: 's' })).toBeUndefined();
});
