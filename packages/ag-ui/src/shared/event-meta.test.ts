import { expect, it } from 'vitest';
import { decode, finished, started } from '../../test/decode-events.ts';

const own = (metadata: object): object => ({ 'ag-ui': { metadata } });

it('merges metadata of all events of a message, the last value of each key wins', () => {
  const { parts } = decode([
    { type: 'TEXT_MESSAGE_START', messageId: 'a', metadata: { one: 1, two: 1 } },
    { type: 'TEXT_MESSAGE_CONTENT', messageId: 'a', delta: 'Hi', metadata: { two: 2, three: 2 } },
    { type: 'TEXT_MESSAGE_END', messageId: 'a', metadata: { three: 3 } },
    { type: 'REASONING_MESSAGE_CHUNK', messageId: 'r', delta: 'Hm', metadata: { one: 1 } },
    { type: 'REASONING_MESSAGE_CHUNK', messageId: 'r', metadata: { two: 2 } },
    { type: 'TEXT_MESSAGE_START', messageId: 'u', role: 'user', metadata: { one: 1 } },
    { type: 'TEXT_MESSAGE_CONTENT', messageId: 'u', delta: 'Faster', metadata: { two: 2 } },
    { type: 'TEXT_MESSAGE_END', messageId: 'u' },
    finished,
  ]);
  expect(parts).toMatchObject([
    { id: 'a', text: 'Hi', providerMetadata: own({ one: 1, two: 2, three: 3 }) },
    { id: 'r', reasoning: 'Hm', providerMetadata: own({ one: 1, two: 2 }) },
    { id: 'u', providerMetadata: own({ one: 1, two: 2 }) },
  ]);
});

it('preserves metadata of runs and steps', () => {
  const { events } = decode([
    { ...started, metadata: { of: 'the run' } },
    { type: 'STEP_STARTED', stepName: 'think', metadata: { one: 1, two: 1 } },
    { type: 'STEP_FINISHED', stepName: 'think', metadata: { two: 2 } },
    { type: 'STEP_STARTED', stepName: 'act', metadata: { one: 1 } },
    { type: 'STEP_FINISHED', stepName: 'act' },
    finished,
  ]);
  expect(events.find(({ type }) => type === 'metadata')).toMatchObject({ metadata: own({ of: 'the run' }) });
  expect(events.filter(({ type }) => type === 'step-end')).toMatchObject([
    { providerMetadata: own({ one: 1, two: 2 }) },
    { providerMetadata: own({ one: 1 }) },
  ]);
});

it('preserves metadata of calls, results, sub-agents and the end of the run', () => {
  const { events, parts } = decode([
    { type: 'SUBAGENT_STARTED', subagentRunId: 's', name: 'S', metadata: { of: 'the agent' } },
    { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'search', metadata: { one: 1 } },
    { type: 'TOOL_CALL_ARGS', toolCallId: 'c', delta: '{}', metadata: { two: 2 } },
    { type: 'TOOL_CALL_END', toolCallId: 'c', metadata: { three: 3 } },
    { type: 'TOOL_CALL_RESULT', messageId: 'x', toolCallId: 'c', content: 'ok', metadata: { of: 'the result' } },
    { type: 'SUBAGENT_FINISHED', subagentRunId: 's' },
    { ...finished, metadata: { of: 'the run' } },
  ]);
  expect(parts).toMatchObject([
    {
      toolCallId: 'c',
      providerMetadata: own({ one: 1, two: 2, three: 3 }),
      resultMetadata: own({ of: 'the result' }),
    },
  ]);
  expect(events.find(({ type }) => type === 'agent-start')).toMatchObject({
    providerMetadata: own({ of: 'the agent' }),
  });
  expect(events.at(-1)).toMatchObject({ type: 'run-end', providerMetadata: own({ of: 'the run' }) });
});
