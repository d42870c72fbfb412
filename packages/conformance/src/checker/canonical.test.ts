import type { AgentEvent, MessageContent } from '@intertie/core';
import { describe, expect, it } from 'vitest';
import { canonical } from './canonical.ts';
import type { CanonicalRule } from '../rules/canonical-rules.ts';
import { check, createStreamChecker } from './check.ts';

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

/** Defect, violated rule, index of the violation, and the events between run-start and run-end. */
const broken: Array<[defect: string, rule: CanonicalRule, index: number, events: unknown[]]> = [
  ['an item that is not an object', 'C0-shape', 1, ['text']],
  ['a field of the wrong type', 'C0-shape', 1, [{ type: 'text-delta', id: 1 }]],
  ['a second run-start', 'C1-start', 1, [start]],
  ['a duplicate part id', 'C2-id', 3, [...text('a'), { type: 'file', id: 'a', url: 'x' }]],
  ['a call with the id of a part', 'C2-id', 3, [...text('a'), call('a')]],
  [
    'a duplicate step id',
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
    'an agent that starts again after it has ended',
    'C2-name',
    3,
    [
      { type: 'agent-start', agentId: 'a', name: 'A', kind: 'agent' },
      { type: 'agent-end', agentId: 'a', outcome: 'complete' },
      { type: 'agent-start', agentId: 'a', name: 'A', kind: 'agent' },
      { type: 'agent-end', agentId: 'a', outcome: 'complete' },
    ],
  ],
  ['a duplicate question', 'C2-name', 2, [question, question]],
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
  ['a duplicate end', 'C3-open', 3, [...text('a'), { type: 'text-end', id: 'a' }]],
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
  ['a duplicate call', 'C4-call', 2, [call('c'), call('c')]],
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
  ['a result without a call', 'C4-result', 1, [result('c')]],
  ['two final results', 'C4-result', 3, [call('c'), result('c'), result('c')]],
  [
    'a result of an incomplete call',
    'C4-result',
    3,
    [
      { type: 'tool-input-start', toolCallId: 'c', toolName: 'weather' },
      { type: 'tool-input-end', toolCallId: 'c' },
      result('c'),
    ],
  ],
  ['an invalid call without an error result', 'C4-invalid', 2, [{ ...call('c'), invalid: { message: 'no' } }]],
  ['an answer without a question', 'C4-refer', 1, [answer]],
  ['a question about an unknown call', 'C4-refer', 1, [{ ...question, toolCallId: 'c' }]],
  ['a patch of unknown data', 'C4-refer', 1, [{ type: 'data-delta', id: 'd', patch: [] }]],
  ['metadata of an unknown part', 'C4-refer', 1, [{ type: 'metadata', id: 'a', providerMetadata: {} }]],
  [
    'a snapshot that reverts a result',
    'C4-back',
    3,
    [
      call('c'),
      result('c'),
      snapshot({ type: 'tool-invocation', toolCallId: 'c', toolName: 'weather', state: 'call' }),
    ],
  ],
  ['a snapshot that omits a call', 'C4-back', 2, [call('c'), snapshot()]],
  [
    'a snapshot that omits an answer',
    'C4-back',
    3,
    [question, answer, snapshot({ type: 'question', questionId: 'q', kind: 'input' })],
  ],
  [
    'a snapshot that edits an earlier run',
    'C7-edit',
    2,
    [snapshot({ type: 'text', id: '0', text: 'original' }), snapshot({ type: 'text', id: '0', text: 'edited' })],
  ],
  [
    'data that is both transient and persistent',
    'C2-id',
    2,
    [
      { type: 'data', id: 'd', name: 'n', data: 1 },
      { type: 'data', id: 'd', name: 'n', data: 1, transient: true },
    ],
  ],
  [
    'a patch of discarded data',
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
    'a step of another agent',
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
    'a call that changes its tool name',
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

describe('the canonical protocol', () => {
  it.each(broken)('rejects %s by %s at %i and reports no other violation', (_, rule, index, events) => {
    expect(found(framed(events))).toEqual([[rule, index]]);
  });

  const frames: Array<[string, CanonicalRule, number, unknown[]]> = [
    ['an empty stream', 'C1-start', 0, []],
    ['a stream without run-start', 'C1-start', 0, [end]],
    ['a stream without run-end', 'C1-end', 1, [start]],
    ['an event after run-end', 'C1-end', 2, [start, end, { type: 'notice', level: 'info', message: 'late' }]],
    [
      'a pause that waits for nothing',
      'C5-waiting',
      1,
      [start, { type: 'run-end', outcome: 'paused', waitingFor: [] }],
    ],
    [
      'a pause that waits for a settled call',
      'C5-waiting',
      3,
      [
        start,
        call('c'),
        result('c'),
        { type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'tool', toolCallId: 'c' }] },
      ],
    ],
    ['a continuation without a baseline', 'C7-baseline', 1, [{ ...start, resumes: 'r0' }, ...text('a'), end]],
  ];
  it.each(frames)('rejects %s by %s at %i', (_, rule, index, events) => {
    expect(found(events)).toContainEqual([rule, index]);
  });

  it('has a broken stream for every rule', () => {
    const covered = new Set([...broken, ...frames].map(([, rule]) => rule));
    expect(canonical.rules.map(({ id }) => id).filter((id) => !covered.has(id as CanonicalRule))).toEqual([]);
  });

  it('accepts a valid run and counts its events', () => {
    const report = check(canonical, framed([question, answer, call('c'), result('c'), ...text('a')]));
    expect(report).toMatchObject({ protocol: 'canonical', ok: true, items: 8, violations: [], losses: [] });
    expect(report.counts).toMatchObject({ 'text-start': 1, 'tool-call': 1 });
  });

  it('counts kinds that are named like properties of Object.prototype', () => {
    expect(check(canonical, framed([{ type: 'constructor' }])).counts).toMatchObject({ constructor: 1 });
  });

  it('reads an unknown event type as raw and reports a loss', () => {
    const report = check(canonical, framed([{ type: 'hologram' }]));
    expect(report).toMatchObject({ ok: true, losses: [{ kind: 'unsupported', what: 'hologram' }] });
  });

  it('reports the rule, the path and the fix', () => {
    const [violation] = check(canonical, framed([{ type: 'text-delta', id: 'a', delta: 1 }])).violations;
    expect(violation).toMatchObject({ path: 'delta', sentence: expect.any(String), fix: expect.any(String) });
  });

  it('detects only its own events', () => {
    expect(
      [start, { type: 'TEXT_MESSAGE_START' }, { type: 'text' }, null, 'text-delta'].map((item) =>
        canonical.looksLike(item),
      ),
    ).toEqual([true, false, false, false, false]);
  });

  it('reports violations before the stream ends', () => {
    const running = createStreamChecker(canonical);
    running.feed(start);
    expect(running.report.ok).toBe(true);
    running.feed(result('c'));
    expect(running.report.ok).toBe(false);
  });
});
