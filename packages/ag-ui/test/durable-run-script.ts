import type { AgentEvent } from '@intertie/core';

/** A run that has something open at nearly every place: agents, steps, words that interleave, calls, state and data. */
export function scriptOf(runId: string, threadId = 'thread-1', messageId = `answer-${runId}`): AgentEvent[] {
  const id = (name: string): string => `${runId}:${name}`;
  return [
    { type: 'run-start', runId, threadId, messageId },
    { type: 'state-snapshot', state: { count: 0 } },
    { type: 'step-start', stepId: 's1' },
    { type: 'reasoning-start', id: id('r'), stepId: 's1' },
    { type: 'reasoning-delta', id: id('r'), delta: 'Let me ' },
    { type: 'text-start', id: id('a'), stepId: 's1' },
    { type: 'reasoning-delta', id: id('r'), delta: 'think.' },
    { type: 'text-delta', id: id('a'), delta: 'I look ' },
    { type: 'reasoning-end', id: id('r'), providerMetadata: { anthropic: { signature: 'signed' } } },
    { type: 'text-delta', id: id('a'), delta: 'it up.' },
    { type: 'text-end', id: id('a') },
    { type: 'tool-input-start', toolCallId: id('c1'), toolName: 'weather', executor: 'runtime', stepId: 's1' },
    { type: 'tool-input-delta', toolCallId: id('c1'), delta: '{"city":' },
    { type: 'tool-input-start', toolCallId: id('c2'), toolName: 'time', executor: 'runtime', stepId: 's1' },
    { type: 'tool-input-delta', toolCallId: id('c1'), delta: '"Rome"}' },
    { type: 'tool-input-end', toolCallId: id('c1') },
    { type: 'tool-call', toolCallId: id('c1'), toolName: 'weather', executor: 'runtime', input: { city: 'Rome' } },
    { type: 'tool-input-delta', toolCallId: id('c2'), delta: '{}' },
    { type: 'tool-call', toolCallId: id('c2'), toolName: 'time', executor: 'runtime', input: {} },
    { type: 'state-delta', patch: [{ op: 'replace', path: '/count', value: 1 }] },
    { type: 'tool-result', toolCallId: id('c1'), status: 'ok', output: { degrees: 21 } },
    { type: 'tool-result', toolCallId: id('c2'), status: 'error', error: { message: 'No clock.' } },
    { type: 'step-end', stepId: 's1', finishReason: 'tool-calls' },
    { type: 'agent-start', agentId: id('sub'), name: 'poet', kind: 'agent' },
    { type: 'step-start', stepId: 's2', agentId: id('sub') },
    { type: 'text-start', id: id('b'), agentId: id('sub'), stepId: 's2' },
    { type: 'text-delta', id: id('b'), delta: 'Sun ' },
    { type: 'data', id: id('d'), name: 'PLAN', data: { steps: [] } },
    { type: 'text-delta', id: id('b'), delta: 'and stones.' },
    { type: 'data-delta', id: id('d'), patch: [{ op: 'add', path: '/steps/-', value: 'rhyme' }] },
    { type: 'text-end', id: id('b') },
    { type: 'step-end', stepId: 's2', finishReason: 'stop' },
    { type: 'agent-end', agentId: id('sub'), outcome: 'complete' },
    { type: 'run-end', outcome: 'complete', finishReason: 'stop' },
  ];
}
