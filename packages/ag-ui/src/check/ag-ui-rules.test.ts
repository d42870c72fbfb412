import { check } from '@intertie/conformance';
import { describe, expect, it } from 'vitest';
import { replay, verify } from '../../test/ag-ui-client.ts';
import { agUi } from '../ag-ui-protocol.ts';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import type { AGUIRule } from './ag-ui-rules.ts';

const started = { type: 'RUN_STARTED', threadId: 't', runId: 'r', protocolVersion: '1.0' };
const finished = { type: 'RUN_FINISHED', threadId: 't', runId: 'r' };
const text = (messageId: string, delta: string, more: object = {}): object[] => [
  { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant', ...more },
  { type: 'TEXT_MESSAGE_CONTENT', messageId, delta },
  { type: 'TEXT_MESSAGE_END', messageId },
];
const call = (toolCallId: string, toolCallName = 'act'): object[] => [
  { type: 'TOOL_CALL_START', toolCallId, toolCallName },
  { type: 'TOOL_CALL_END', toolCallId },
];
const result = (toolCallId: string): object => ({
  type: 'TOOL_CALL_RESULT',
  messageId: `${toolCallId}:result`,
  toolCallId,
  content: '',
});
const chunk = (type: string, more: object): object => ({ type: `${type}_CHUNK`, ...more });
const subagent = (subagentRunId: string): object => ({ type: 'SUBAGENT_STARTED', subagentRunId, name: subagentRunId });
const over = (subagentRunId: string): object => ({ type: 'SUBAGENT_FINISHED', subagentRunId });
const offering = (...names: string[]): object => ({
  ...started,
  input: { threadId: 't', runId: 'r', messages: [], tools: names.map((name) => ({ name, description: '' })) },
});
const having = (...messages: object[]): object => ({ ...started, input: { threadId: 't', runId: 'r', messages } });
const snapshot = (...messages: object[]): object => ({ type: 'MESSAGES_SNAPSHOT', messages });
const pending = (...pendingToolCallIds: string[]): object => ({
  ...finished,
  outcome: { type: 'success', pendingToolCallIds },
});
const interrupted = (toolCallId: string): object => ({
  ...finished,
  outcome: { type: 'interrupt', interrupts: [{ id: 'i', reason: 'approval', toolCallId }] },
});
const calling = (id: string): object => ({
  id: 'm',
  role: 'assistant',
  toolCalls: [{ id, type: 'function', function: { name: 'act', arguments: '{}' } }],
});
const usage = (totalTokens: number): object => ({
  ...finished,
  usage: [{ inputTokens: 2, outputTokens: 3, totalTokens }],
});
const activity = { type: 'ACTIVITY_SNAPSHOT', messageId: 'a', activityType: 'PLAN', content: { steps: [] } };
const activityDelta = (path: string, value: unknown): object => ({
  type: 'ACTIVITY_DELTA',
  messageId: 'a',
  activityType: 'PLAN',
  patch: [{ op: 'replace', path, value }],
});
const stateDelta = { type: 'STATE_DELTA', delta: [{ op: 'replace', path: '/n', value: 1 }] };
const custom = (name: string): object => ({ type: 'CUSTOM', name, value: 1 });
const long = 'A text of some length.';

/** A rule, a stream that breaks it, and a similar stream that does not. */
const table: ReadonlyArray<[AGUIRule, bad: object[], good: object[]]> = [
  ['protocol-version', [{ ...started, protocolVersion: 'newest' }, finished], [started, finished]],
  ['unknown-field', [started, { ...finished, finishReason: 'stop' }], [started, { ...finished, result: 'stop' }]],
  [
    'metadata-key',
    [started, { ...finished, metadata: { 'ag-ui': {} } }],
    [started, { ...finished, metadata: { acme: {} } }],
  ],
  ['custom-name', [started, custom('progress'), finished], [started, custom('com.example.progress'), finished]],
  ['custom-name', [started, custom('.progress'), finished], [started, custom('acme:progress'), finished]],
  ['usage', [started, usage(6)], [started, usage(5)]],
  [
    'retold',
    [having({ id: 'm', role: 'assistant', content: 'Hi' }), ...text('m', 'Hi'), finished],
    [having({ id: 'm', role: 'assistant', content: 'Hi' }), ...text('m', ' there'), finished],
  ],
  [
    'retold',
    [started, ...text('m', long), finished, started, ...text('m', `${long} And on.`), finished],
    [started, ...text('m', long), finished, started, ...text('m', ' And on.'), finished],
  ],
  [
    'retold',
    [started, snapshot({ id: 'm', role: 'assistant', content: long }), ...text('m', long), finished],
    [started, snapshot({ id: 'm', role: 'assistant', content: long }), ...text('n', long), finished],
  ],
  [
    'reopened',
    [started, ...text('m', 'a'), ...text('m', 'b', { role: 'user' }), finished],
    [started, ...text('m', 'a'), ...text('m', 'b'), finished],
  ],
  [
    'reopened',
    [started, ...call('c'), ...call('c', 'other'), finished],
    [started, ...call('c'), ...call('c'), finished],
  ],
  [
    'result-once',
    [having({ id: 't', role: 'tool', toolCallId: 'c', content: 'x' }), result('c'), finished],
    [having({ id: 't', role: 'tool', toolCallId: 'c', content: 'x' }), finished],
  ],
  [
    'unanswered-call',
    [started, ...call('c'), ...call('d'), pending('d')],
    [started, ...call('c'), result('c'), ...call('d'), pending('d')],
  ],
  [
    'unanswered-call',
    [offering('ask'), ...call('c', 'act'), finished],
    [offering('ask'), ...call('c', 'ask'), finished],
  ],
  [
    'client-tool',
    [offering('ask'), ...call('c', 'ask'), result('c'), finished],
    [offering('ask'), ...call('c', 'act'), result('c'), finished],
  ],
  [
    'client-tool',
    [offering('ask'), ...call('c', 'ask'), interrupted('c')],
    [offering('ask'), ...call('c', 'act'), interrupted('c')],
  ],
  [
    'pending-calls',
    [offering('ask'), ...call('c', 'ask'), pending('c', 'd')],
    [offering('ask'), ...call('c', 'ask'), pending('c')],
  ],
  [
    'pending-calls',
    [having(calling('b')), ...call('c'), pending('c', 'd')],
    // A call of the history may still be pending.
    [having(calling('b')), ...call('c'), pending('c', 'b')],
  ],
  [
    'pending-calls',
    [started, ...call('c'), result('c'), pending('c')],
    // The history is unknown.
    [started, ...call('c'), pending('c', 'b')],
  ],
  [
    'patch-applies',
    [started, { type: 'STATE_SNAPSHOT', snapshot: {} }, stateDelta, finished],
    [started, { type: 'STATE_SNAPSHOT', snapshot: { n: 0 } }, stateDelta, finished],
  ],
  [
    'patch-applies',
    [having(), stateDelta, finished],
    // The initial state is unknown.
    [started, stateDelta, finished],
  ],
  [
    'patch-applies',
    [started, activity, activityDelta('', 'no object'), finished],
    [started, activity, activityDelta('/steps', [1]), finished],
  ],
  [
    'activity-known',
    [started, activityDelta('/steps', []), finished],
    [started, snapshot({ ...activity, id: 'a', role: 'activity' }), activityDelta('/steps', []), finished],
  ],
  [
    'subagent-first',
    [started, ...text('m', 'a', { subagentRunId: 's' }), subagent('s'), over('s'), finished],
    [started, subagent('s'), ...text('m', 'a', { subagentRunId: 's' }), over('s'), finished],
  ],
  [
    'chunk-mixed',
    [started, chunk('TEXT_MESSAGE', { messageId: 'm', delta: 'a' }), ...text('m', 'b'), finished],
    [started, chunk('TEXT_MESSAGE', { messageId: 'm', delta: 'a' }), ...text('n', 'b'), finished],
  ],
  [
    'chunk-ambiguous',
    [
      started,
      subagent('s'),
      subagent('z'),
      chunk('TEXT_MESSAGE', { messageId: 'm', subagentRunId: 's', delta: 'a' }),
      chunk('TEXT_MESSAGE', { messageId: 'n', subagentRunId: 'z', delta: 'b' }),
      chunk('TEXT_MESSAGE', { delta: 'c' }),
      over('s'),
      over('z'),
      finished,
    ],
    [
      started,
      subagent('s'),
      subagent('z'),
      chunk('TEXT_MESSAGE', { messageId: 'm', subagentRunId: 's', delta: 'a' }),
      chunk('TOOL_CALL', { toolCallId: 'n', toolCallName: 'act', subagentRunId: 'z', delta: 'b' }),
      // Only one text is open.
      chunk('TEXT_MESSAGE', { delta: 'c' }),
      over('s'),
      over('z'),
      finished,
    ],
  ],
  [
    'owner',
    [
      started,
      subagent('s'),
      chunk('TEXT_MESSAGE', { messageId: 'm', delta: 'a' }),
      chunk('TEXT_MESSAGE', { messageId: 'm', subagentRunId: 's', delta: 'b' }),
      over('s'),
      finished,
    ],
    [
      started,
      subagent('s'),
      chunk('TEXT_MESSAGE', { messageId: 'm', subagentRunId: 's', delta: 'a' }),
      chunk('TEXT_MESSAGE', { messageId: 'm', delta: 'b' }),
      over('s'),
      finished,
    ],
  ],
];

const findRules = (events: readonly object[]): string[] => check(agUi, events).violations.map(({ rule }) => rule);
/** Rules of chunks whose violation is fatal for a 1.0 client. */
const fatal: ReadonlySet<AGUIRule> = new Set(['chunk-ambiguous', 'owner', 'chunk-mixed']);

describe('the AG-UI rules', () => {
  it.each(table)('detects violations of %s and accepts similar valid streams', async (rule, bad, good) => {
    expect(findRules(bad)).toContain(rule);
    expect(findRules(good)).toEqual([]);
    // The official client accepts the valid stream too. It replays single runs only.
    const isOne = good.filter((event) => event === started).length < 2;
    const seen = isOne ? await replay([good as AGUIEvent[]]) : undefined;
    expect(seen?.error).toBeUndefined();
  });

  it('agrees with the official client on fatal violations of chunks', async () => {
    const broken = table.filter(([rule]) => fatal.has(rule) && rule !== 'chunk-mixed');
    const errors = await Promise.all(broken.map(async ([, bad]) => (await replay([bad as AGUIEvent[]])).error));
    expect(errors).toEqual([expect.stringContaining('Ambiguous'), expect.stringContaining('does not match')]);
  });

  it('has a sentence and a fix for every rule', () => {
    for (const { sentence, fix } of agUi.rules) expect([sentence, fix].every((line) => line.endsWith('.'))).toBe(true);
  });

  it('accepts triads that the official verifier accepts', async () => {
    const triads = table.filter(
      ([, , good]) => !good.some((event) => 'type' in event && String(event.type).endsWith('CHUNK')),
    );
    const refused = await Promise.all(triads.map(async ([, , good]) => verify(good as AGUIEvent[])));
    expect(refused.filter(Boolean)).toEqual([]);
  });
});
