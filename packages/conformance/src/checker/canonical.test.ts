import type { AgentEvent, MessageContent } from '@intertie/core';
import { describe, expect, it } from 'vitest';
import { canonical } from './canonical.ts';
import type { CanonicalRule } from '../rules/canonical-rules.ts';
import { check, startCheck } from './check.ts';

const start: AgentEvent = { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm' };
const end: AgentEvent = { type: 'run-end', outcome: 'complete' };
const call = (toolCallId: string): AgentEvent => ({ type: 'tool-call', toolCallId, toolName: 'weather', input: {} });
const result = (toolCallId: string): AgentEvent => ({ type: 'tool-result', toolCallId, status: 'ok', output: 1 });
const text = (id: string): AgentEvent[] => [
  { type: 'text-start', id },
  { type: 'text-end', id },
];
const snapshot = (...parts: MessageContent['parts']): AgentEvent => ({
  type: 'message-snapshot',
  content: { format: 2, parts },
});
const question: AgentEvent = { type: 'question', questionId: 'q', kind: 'input' };
const answer: AgentEvent = { type: 'answer', questionId: 'q', value: 1 };

/** What a stream gets wrong, the rule it breaks, the place, and the stream without its frame. */
const broken: Array<[what: string, rule: CanonicalRule, index: number, events: unknown[]]> = [
  ['no object', 'C0-shape', 1, ['text']],
  ['a wrong shape', 'C0-shape', 1, [{ type: 'text-delta', id: 1 }]],
  ['a second run-start', 'C1-start', 1, [start]],
  ['a part id twice', 'C2-id', 3, [...text('a'), { type: 'file', id: 'a', url: 'x' }]],
  ['a call with the id of a part', 'C2-id', 3, [...text('a'), call('a')]],
  [
    'a step id twice',
    'C2-name',
    3,
    [
      { type: 'step-start', stepId: 's' },
      { type: 'step-end', stepId: 's' },
      { type: 'step-start', stepId: 's' },
      { type: 'step-end', stepId: 's' },
    ],
  ],
  [
    'an agent that starts again after it is done',
    'C2-name',
    3,
    [
      { type: 'agent-start', agentId: 'a', name: 'A', kind: 'agent' },
      { type: 'agent-end', agentId: 'a', outcome: 'complete' },
      { type: 'agent-start', agentId: 'a', name: 'A', kind: 'agent' },
      { type: 'agent-end', agentId: 'a', outcome: 'complete' },
    ],
  ],
  ['a question twice', 'C2-name', 2, [question, question]],
  ['a delta without a start', 'C3-open', 1, [{ type: 'text-delta', id: 'a', delta: 'x' }]],
  ['a delta after the end', 'C3-open', 3, [...text('a'), { type: 'text-delta', id: 'a', delta: 'x' }]],
  [
    'a delta of another kind',
    'C3-open',
    2,
    [
      { type: 'text-start', id: 'a' },
      { type: 'reasoning-delta', id: 'a', delta: 'x' },
      { type: 'text-end', id: 'a' },
    ],
  ],
  ['an end twice', 'C3-open', 3, [...text('a'), { type: 'text-end', id: 'a' }]],
  ['a text that never ends', 'C3-close', 2, [{ type: 'text-start', id: 'a' }]],
  [
    'a step that ends before its text',
    'C3-close',
    3,
    [
      { type: 'step-start', stepId: 's' },
      { type: 'text-start', id: 'a', stepId: 's' },
      { type: 'step-end', stepId: 's' },
      { type: 'text-end', id: 'a' },
    ],
  ],
  [
    'a snapshot inside a text',
    'C3-snapshot',
    2,
    [{ type: 'text-start', id: 'a' }, snapshot(), { type: 'text-end', id: 'a' }],
  ],
  ['a call twice', 'C4-call', 2, [call('c'), call('c')]],
  [
    'a call before its input has ended',
    'C4-call',
    2,
    [
      { type: 'tool-input-start', toolCallId: 'c', toolName: 'weather' },
      call('c'),
      { type: 'tool-input-end', toolCallId: 'c' },
    ],
  ],
  ['a result of nothing', 'C4-result', 1, [result('c')]],
  ['two final results', 'C4-result', 3, [call('c'), result('c'), result('c')]],
  [
    'a result of half a call',
    'C4-result',
    3,
    [
      { type: 'tool-input-start', toolCallId: 'c', toolName: 'weather' },
      { type: 'tool-input-end', toolCallId: 'c' },
      result('c'),
    ],
  ],
  ['an invalid call without its error', 'C4-invalid', 2, [{ ...call('c'), invalid: { message: 'no' } }]],
  ['an answer to nothing', 'C4-refer', 1, [answer]],
  ['a question about no call', 'C4-refer', 1, [{ ...question, toolCallId: 'c' }]],
  ['a patch of no data', 'C4-refer', 1, [{ type: 'data-delta', id: 'd', patch: [] }]],
  ['metadata of no part', 'C4-refer', 1, [{ type: 'metadata', id: 'a', providerMetadata: {} }]],
  [
    'a snapshot that takes a result back',
    'C4-back',
    3,
    [
      call('c'),
      result('c'),
      snapshot({ type: 'tool-invocation', toolCallId: 'c', toolName: 'weather', state: 'call' }),
    ],
  ],
  ['a snapshot that leaves out a call', 'C4-back', 2, [call('c'), snapshot()]],
  [
    'a snapshot that takes an answer back',
    'C4-back',
    3,
    [question, answer, snapshot({ type: 'question', questionId: 'q', kind: 'input' })],
  ],
  [
    'a snapshot that edits an earlier run',
    'C7-edit',
    2,
    [snapshot({ type: 'text', id: '0', text: 'said' }), snapshot({ type: 'text', id: '0', text: 'unsaid' })],
  ],
  [
    'data that is transient and kept',
    'C2-id',
    2,
    [
      { type: 'data', id: 'd', name: 'n', data: 1 },
      { type: 'data', id: 'd', name: 'n', data: 1, transient: true },
    ],
  ],
  [
    'a patch of data that was discarded',
    'C4-refer',
    4,
    [
      { type: 'step-start', stepId: 's' },
      { type: 'data', id: 'd', name: 'n', data: 1, stepId: 's' },
      { type: 'step-end', stepId: 's', discarded: true },
      { type: 'data-delta', id: 'd', patch: [] },
    ],
  ],
  ['a question answered twice', 'C5-answer', 3, [question, answer, answer]],
  ['an agent that has not started', 'C6-agent', 1, [{ type: 'file', id: 'f', url: 'x', agentId: 'a' }]],
  ['a step that is not open', 'C6-step', 1, [{ type: 'file', id: 'f', url: 'x', stepId: 's' }]],
  [
    "another agent's step",
    'C6-step',
    3,
    [
      { type: 'agent-start', agentId: 'a', name: 'A', kind: 'agent' },
      { type: 'step-start', stepId: 's', agentId: 'a' },
      { type: 'file', id: 'f', url: 'x', stepId: 's' },
      { type: 'step-end', stepId: 's' },
      { type: 'agent-end', agentId: 'a', outcome: 'complete' },
    ],
  ],
  [
    'a call that changes its name',
    'C6-once',
    3,
    [
      { type: 'tool-input-start', toolCallId: 'c', toolName: 'clock' },
      { type: 'tool-input-end', toolCallId: 'c' },
      call('c'),
    ],
  ],
  ['a state patch before any state', 'C8-state', 1, [{ type: 'state-delta', patch: [] }]],
  [
    'a patch that does not apply',
    'C8-patch',
    2,
    [
      { type: 'state-snapshot', state: {} },
      { type: 'state-delta', patch: [{ op: 'remove', path: '/x' }] },
    ],
  ],
];

const framed = (events: unknown[]): unknown[] => [start, ...events, end];
const found = (events: unknown[]): Array<[string, number]> =>
  check(canonical, events).violations.map(({ rule, index }) => [rule, index]);

describe('the canonical dialect', () => {
  it.each(broken)('rejects %s by %s at %i, and for nothing else', (_, rule, index, events) => {
    expect(found(framed(events))).toEqual([[rule, index]]);
  });

  const frames: Array<[string, CanonicalRule, number, unknown[]]> = [
    ['nothing at all', 'C1-start', 0, []],
    ['no start', 'C1-start', 0, [end]],
    ['no end', 'C1-end', 1, [start]],
    ['something after the end', 'C1-end', 2, [start, end, { type: 'notice', level: 'info', message: 'late' }]],
    [
      'a pause that waits for nothing',
      'C5-waiting',
      1,
      [start, { type: 'run-end', outcome: 'paused', waitingFor: [] }],
    ],
    [
      'a pause that waits for what is settled',
      'C5-waiting',
      3,
      [
        start,
        call('c'),
        result('c'),
        { type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'tool', toolCallId: 'c' }] },
      ],
    ],
    ['a continuation without its baseline', 'C7-baseline', 1, [{ ...start, resumes: 'r0' }, ...text('a'), end]],
  ];
  it.each(frames)('rejects %s by %s at %i', (_, rule, index, events) => {
    expect(found(events)).toContainEqual([rule, index]);
  });

  it('has a stream that breaks each of its rules', () => {
    const covered = new Set([...broken, ...frames].map(([, rule]) => rule));
    expect(canonical.rules.map(({ id }) => id).filter((id) => !covered.has(id as CanonicalRule))).toEqual([]);
  });

  it('is silent on a good run, and counts its events', () => {
    const report = check(canonical, framed([question, answer, call('c'), result('c'), ...text('a')]));
    expect(report).toMatchObject({ dialect: 'canonical', ok: true, items: 8, violations: [], losses: [] });
    expect(report.counts).toMatchObject({ 'text-start': 1, 'tool-call': 1 });
  });

  it('counts kinds that are named like what every object has', () => {
    expect(check(canonical, framed([{ type: 'constructor' }])).counts).toMatchObject({ constructor: 1 });
  });

  it('reads a type that it does not know as raw, and says so', () => {
    const report = check(canonical, framed([{ type: 'hologram' }]));
    expect(report).toMatchObject({ ok: true, losses: [{ kind: 'unsupported', what: 'hologram' }] });
  });

  it('names the rule, the place and the fix', () => {
    const [violation] = check(canonical, framed([{ type: 'text-delta', id: 'a', delta: 1 }])).violations;
    expect(violation).toMatchObject({ path: 'delta', sentence: expect.any(String), fix: expect.any(String) });
  });

  it('recognises its own events, and only those', () => {
    expect(
      [start, { type: 'TEXT_MESSAGE_START' }, { type: 'text' }, null, 'text-delta'].map((item) =>
        canonical.detect(item),
      ),
    ).toEqual([true, false, false, false, false]);
  });

  it('can be asked while the stream goes on', () => {
    const running = startCheck(canonical);
    running.feed(start);
    expect(running.report.ok).toBe(true);
    running.feed(result('c'));
    expect(running.report.ok).toBe(false);
  });
});
