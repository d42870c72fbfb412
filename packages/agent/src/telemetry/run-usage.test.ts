import type { AgentEvent } from '@intertie/core';
import { expect, it } from 'vitest';
import { RunUsage } from './run-usage.ts';

const used = (...events: AgentEvent[]): RunUsage['total'] => {
  const usage = new RunUsage();
  for (const event of events) usage.record(event);
  return usage.total;
};
const turn = (stepId: string, inputTokens: number, agentId?: string): AgentEvent[] => [
  { type: 'step-start', stepId, ...(agentId !== undefined && { agentId }) },
  { type: 'step-end', stepId, usage: [{ model: 'm', inputTokens }] },
];

it('sums turns, by model', () => {
  const other: AgentEvent = { type: 'step-end', stepId: 's3', usage: [{ model: 'n', outputTokens: 1 }] };
  expect(used(...turn('s1', 1), ...turn('s2', 2), other)).toEqual([
    { model: 'm', inputTokens: 3 },
    { model: 'n', outputTokens: 1 },
  ]);
});

it('believes an agent before its turns, and the turns of those that do not say', () => {
  const end: AgentEvent = {
    type: 'agent-end',
    agentId: 'a',
    outcome: 'complete',
    usage: [{ model: 'm', inputTokens: 10 }],
  };
  expect(used(...turn('s1', 1, 'a'), ...turn('s2', 2, 'b'), end)).toEqual([{ model: 'm', inputTokens: 12 }]);
});

it('knows nothing where nobody has said', () => {
  expect(used({ type: 'step-end', stepId: 's' })).toBeUndefined();
});
