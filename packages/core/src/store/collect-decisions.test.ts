import { expect, it } from 'vitest';

import { collectDecisions } from './collect-decisions.ts';
import type { MessageContent } from '../event/message.ts';

const approval = { questionId: 'q1', kind: 'approval' as const, toolCallId: 'c1', expiresAt: '2040-01-01T00:00:00Z' };
const content: MessageContent = {
  format: 2,
  parts: [
    { type: 'text', text: 'Wait.' },
    { type: 'tool-invocation', toolCallId: 'c1', toolName: 'rm', state: 'call', args: { path: 'a' }, approval },
    { type: 'tool-invocation', toolCallId: 'c2', toolName: 'locate', state: 'call' },
    { type: 'question', id: 'p3', agentId: 'ada', questionId: 'q2', kind: 'input', message: 'How many?' },
  ],
};

it('collects the questions and calls that a paused run waits for from its message', () => {
  const waitingFor = [
    { type: 'question' as const, questionId: 'q2' },
    { type: 'tool' as const, toolCallId: 'c2' },
    { type: 'question' as const, questionId: 'q1' },
    { type: 'message' as const },
    { type: 'tool' as const, toolCallId: 'nowhere' },
  ];
  expect(collectDecisions({ outcome: 'paused', waitingFor }, content)).toEqual([
    { id: 'q2', kind: 'input', question: { questionId: 'q2', kind: 'input', message: 'How many?' } },
    { id: 'c2', kind: 'client-tool', toolCallId: 'c2', toolName: 'locate', input: null },
    { id: 'q1', kind: 'approval', question: approval, toolCallId: 'c1', expiresAt: new Date('2040-01-01T00:00:00Z') },
  ]);
});

it('returns no decisions for a run that is not paused', () => {
  expect(collectDecisions({ outcome: 'complete' }, content)).toEqual([]);
});
