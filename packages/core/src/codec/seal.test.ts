import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { transcode } from './codec.ts';
import type { AgentEvent, EventOf } from '../event/event.ts';
import type { Loss } from '../json/loss.ts';
import type { MessageContent } from '../event/message.ts';
import type { RunInput } from '../event/run-input.ts';
import { seal } from './seal.ts';

const run: RunInput = {
  runId: 'r',
  threadId: 't',
  messageId: 'm',
  startedAt: 100,
  history: [],
  answers: [],
  tools: [],
  context: [],
};
const start: AgentEvent = { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm', at: 100 };

function sealed(
  events: AgentEvent[],
  input: Partial<RunInput> = {},
  end?: Parameters<typeof transcode>[2],
): [AgentEvent[], Loss[]] {
  const losses: Loss[] = [];
  return [
    transcode(
      seal({ ...run, ...input }, (loss) => losses.push(loss)),
      events,
      end,
    ),
    losses,
  ];
}

function bare(event: AgentEvent): AgentEvent {
  const { providerMetadata: _, ...rest } = event as EventOf<'text-delta'>;
  return rest;
}

describe('seal', () => {
  it('writes run-start on the first flush, before any input', () => {
    const out: AgentEvent[] = [];
    const codec = seal(run, () => undefined);
    codec.flush?.((event) => out.push(event));
    codec.flush?.((event) => out.push(event));
    expect(out).toEqual([start]);
  });

  it('skips only the shape check for trusted events', () => {
    const losses: Loss[] = [];
    const odd: AgentEvent = { type: 'raw', dialect: 'x', value: 1n as never };
    const orphan: AgentEvent = { type: 'text-delta', id: 'a', delta: 'late' };
    const codec = seal(run, (loss) => losses.push(loss), { trusted: true });
    expect(transcode(codec, [odd, orphan, { type: 'run-end', outcome: 'complete' }])).toEqual([
      start,
      odd,
      { type: 'run-end', outcome: 'complete' },
    ]);
    expect(losses).toMatchObject([{ kind: 'repaired', what: 'text-delta', id: 'a' }]);
    expect(sealed([odd])[1]).toMatchObject([{ kind: 'repaired', what: expect.stringContaining('BigInt') as string }]);
  });

  it('treats repeated deltas of one part the same with and without the fast path', () => {
    const id = fc.constantFrom('a', 'b');
    const event = fc.oneof(
      { weight: 6, arbitrary: fc.record({ type: fc.constantFrom('text-delta', 'reasoning-delta'), id, delta: id }) },
      { weight: 3, arbitrary: fc.record({ type: fc.constant('tool-input-delta'), toolCallId: id, delta: id }) },
      fc.record({ type: fc.constantFrom('text-delta', 'reasoning-delta'), id, delta: id, at: fc.constant(7) }),
      fc.record({ type: fc.constant('tool-input-start'), toolCallId: id, toolName: id }),
      fc.record({ type: fc.constantFrom('tool-input-end'), toolCallId: id }),
      fc.record({ type: fc.constantFrom('text-start', 'reasoning-start', 'text-end', 'reasoning-end'), id }),
      fc.record({ type: fc.constant('run-end'), outcome: fc.constant('complete') }),
      fc.constant({ type: 'notice', level: 'info', message: 'between' }),
    ) as fc.Arbitrary<AgentEvent>;
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40, size: 'max' }), (events) => {
        // Deltas with metadata never take the fast path.
        const slow = events.map((one) => (one.type.endsWith('-delta') ? { ...one, providerMetadata: {} } : one));
        const [out, losses] = sealed(slow);
        expect(sealed(events)).toEqual([out.map(bare), losses]);
      }),
      { numRuns: 500 },
    );
  });

  it('drops a delta after the end, even for the part of the last delta', () => {
    const losses: Loss[] = [];
    const codec = seal(run, (loss) => losses.push(loss));
    const delta: AgentEvent = { type: 'text-delta', id: 'a', delta: 'word' };
    transcode(codec, [{ type: 'text-start', id: 'a' }, delta]);
    const late: AgentEvent[] = [];
    codec.feed(delta, (event) => late.push(event));
    expect(late).toEqual([]);
    expect(losses).toMatchObject([{ kind: 'late', what: 'text-delta', id: 'a' }]);
  });

  it('ends a stream without a run-end as truncated', () => {
    expect(sealed([])[0]).toEqual([
      start,
      { type: 'run-end', outcome: 'error', error: { message: expect.any(String), code: 'truncated' } },
    ]);
  });

  it.each([
    [{ reason: 'aborted', by: 'user' } as const, { outcome: 'aborted', by: 'user' }],
    [
      { reason: 'aborted', by: 'system', message: 'shutdown' } as const,
      { outcome: 'aborted', by: 'system', reason: 'shutdown' },
    ],
    [
      { reason: 'error', error: { message: 'gone', code: 'lost' } } as const,
      { outcome: 'error', error: { message: 'gone', code: 'lost' } },
    ],
  ])('maps the input end %j to the outcome', (end, outcome) => {
    expect(sealed([], {}, end)[0].at(-1)).toEqual({ type: 'run-end', ...outcome });
  });

  it('closes open scopes in reverse order, with the time of the last event', () => {
    const [events, losses] = sealed(
      [
        { type: 'agent-start', agentId: 'a', name: 'A', kind: 'agent', at: 101 },
        { type: 'step-start', stepId: 's', agentId: 'a' },
        { type: 'text-start', id: '1', agentId: 'a', stepId: 's' },
        { type: 'tool-input-start', toolCallId: 'c', toolName: 'weather', at: 102 },
      ],
      {},
      { reason: 'aborted', by: 'user' },
    );
    expect(events.slice(5)).toEqual([
      { type: 'tool-input-end', toolCallId: 'c', at: 102 },
      { type: 'text-end', id: '1', at: 102 },
      { type: 'step-end', stepId: 's', at: 102 },
      { type: 'agent-end', agentId: 'a', outcome: 'aborted', by: 'user', at: 102 },
      { type: 'run-end', outcome: 'aborted', by: 'user', at: 102 },
    ]);
    expect(losses).toEqual([]);
  });

  it('reports events after run-end as late', () => {
    const [events, losses] = sealed([
      { type: 'run-end', outcome: 'complete' },
      { type: 'text-start', id: 'x' },
      { type: 'run-end', outcome: 'complete' },
    ]);
    expect(events).toEqual([start, { type: 'run-end', outcome: 'complete' }]);
    expect(losses).toMatchObject([
      { kind: 'late', what: 'text-start', id: 'x' },
      { kind: 'late', what: 'run-end' },
    ]);
  });

  it('replaces the ids of a fed run-start by those of the run', () => {
    const [events] = sealed([{ type: 'run-start', runId: 'theirs', threadId: 'theirs', messageId: 'theirs', at: 7 }]);
    expect(events[0]).toEqual({ ...start, at: 7 });
  });

  it('starts a continuation with its baseline, the answers and the state', () => {
    const message = {
      format: 2 as const,
      parts: [
        { type: 'tool-invocation' as const, toolCallId: 'c', toolName: 'ask', state: 'call' as const },
        { type: 'question' as const, questionId: 'q', kind: 'input' as const },
      ],
    };
    const [events, losses] = sealed([], {
      resumes: 'r0',
      message,
      state: null,
      answers: [
        { questionId: 'q', value: 1 },
        { toolCallId: 'c', status: 'ok', output: 'yes' },
        { questionId: 'unknown', value: 2 },
      ],
    });
    expect(events.slice(0, -1)).toEqual([
      { ...start, resumes: 'r0' },
      { type: 'message-snapshot', content: message, at: 100 },
      { type: 'answer', questionId: 'q', value: 1, at: 100 },
      { type: 'tool-result', toolCallId: 'c', status: 'ok', output: 'yes', at: 100 },
      { type: 'state-snapshot', state: null, at: 100 },
    ]);
    expect(losses).toMatchObject([{ kind: 'repaired', what: 'answer', id: 'unknown' }]);
  });

  it('writes the baseline when it ends a log that was cut before it', () => {
    const message = { format: 2 as const, parts: [] };
    const codec = seal({ ...run, resumes: 'r0', message }, () => undefined);
    codec.feed({ ...start, resumes: 'r0' }, () => undefined);
    const closing: AgentEvent[] = [];
    codec.end({ reason: 'error', error: { message: 'gone', code: 'lost' } }, (event) => closing.push(event));
    expect(closing.map(({ type }) => type)).toEqual(['message-snapshot', 'run-end']);
  });

  it('ends a resumed run without the time of its log, unless nothing follows the log', () => {
    const resume = (events: AgentEvent[]): AgentEvent[] =>
      transcode(
        seal(run, () => undefined, { log: [start] }),
        events,
      );
    expect(resume([{ type: 'text-start', id: 'a' }]).map(({ at }) => at)).toEqual([undefined, undefined, undefined]);
    expect(resume([{ type: 'run-end', outcome: 'complete' }])[0]!.at).toBeUndefined();
    expect(resume([]).map(({ at }) => at)).toEqual([100]);
  });

  it('writes an empty state before a patch without a state', () => {
    const [events] = sealed([{ type: 'state-delta', patch: [{ op: 'add', path: '/a', value: 1 }] }]);
    expect(events.slice(1, 3)).toEqual([
      { type: 'state-snapshot', state: {} },
      { type: 'state-delta', patch: [{ op: 'add', path: '/a', value: 1 }] },
    ]);
  });

  it('writes an error result at the end for an invalid call without a result', () => {
    const [events] = sealed([
      { type: 'tool-call', toolCallId: 'c', toolName: 't', input: '{', invalid: { message: 'not JSON' } },
    ]);
    expect(events.at(-2)).toMatchObject({
      type: 'tool-result',
      toolCallId: 'c',
      status: 'error',
      error: { message: 'not JSON' },
    });
  });

  it('completes a paused run that waits for nothing pending, and reports it', () => {
    const [events, losses] = sealed([
      { type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'tool', toolCallId: 'c' }] },
    ]);
    expect(events.at(-1)).toEqual({ type: 'run-end', outcome: 'complete' });
    expect(losses).toMatchObject([{ kind: 'repaired', what: 'run-end', why: expect.stringContaining('the call c') }]);
  });

  it('passes an event of a newer version as raw', () => {
    const newer = { type: 'hologram', at: 5, beams: 3 } as never;
    expect(sealed([newer])[0][1]).toEqual({ type: 'raw', dialect: 'canonical', value: newer, at: 5 });
  });

  it.each<[string, AgentEvent[], AgentEvent[]]>([
    [
      'a second final result',
      [
        { type: 'tool-call', toolCallId: 'c', toolName: 't', input: 1 },
        { type: 'tool-result', toolCallId: 'c', status: 'ok', output: 1 },
      ],
      [{ type: 'tool-result', toolCallId: 'c', status: 'ok', output: 2 }],
    ],
    ['a delta of an unknown part', [], [{ type: 'text-delta', id: 'x', delta: 'lost' }]],
    [
      'a reopened text',
      [
        { type: 'text-start', id: 'x' },
        { type: 'text-end', id: 'x' },
      ],
      [{ type: 'text-start', id: 'x', internal: true }],
    ],
    [
      'a result before its call',
      [{ type: 'tool-input-start', toolCallId: 'c', toolName: 't' }],
      [{ type: 'tool-result', toolCallId: 'c', status: 'ok', output: 1 }],
    ],
    [
      'a patch that fails',
      [{ type: 'state-snapshot', state: {} }],
      [{ type: 'state-delta', patch: [{ op: 'remove', path: '/x' }] }],
    ],
    [
      'a snapshot that removes a call',
      [{ type: 'tool-call', toolCallId: 'c', toolName: 't', input: 1 }],
      [{ type: 'message-snapshot', content: { format: 2, parts: [] } }],
    ],
  ])('drops %s and reports it', (_, before, wrong) => {
    const [events, losses] = sealed([...before, ...wrong]);
    for (const event of before) expect(events).toContainEqual(event);
    for (const event of wrong) expect(events).not.toContainEqual(event);
    expect(losses).toHaveLength(wrong.length);
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['a state-delta without a patch', { type: 'state-delta' }],
    ['a snapshot without content', { type: 'message-snapshot' }],
    ['a pause without a list', { type: 'run-end', outcome: 'paused' }],
    ['a delta that is not a string', { type: 'text-delta', id: 'x', delta: 7 }],
  ])('passes %s as raw with a notice, without throwing', (_, input) => {
    const [events] = sealed([input as AgentEvent]);
    expect(events.slice(1, 3)).toEqual([
      { type: 'raw', dialect: 'canonical', value: input },
      expect.objectContaining({ type: 'notice', level: 'warning', code: 'malformed' }),
    ]);
  });

  it('converts values that are not JSON, and reports them', () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    const input = { big: 10n, circle, bytes: new Uint8Array([1]), not: Number.NaN };
    const [events, losses] = sealed([{ type: 'tool-call', toolCallId: 'c', toolName: 't', input: input as never }]);
    expect(events[1]).toMatchObject({ type: 'tool-call', input: { big: '10', bytes: 'AQ==', not: null } });
    expect(() => JSON.stringify(events)).not.toThrow();
    expect(losses.length).toBeGreaterThanOrEqual(4);
  });

  it.each<[string, MessageContent]>([
    ['edits the text of an earlier run', baseline({ text: 'EDITED' })],
    ['removes an answer', baseline({ answered: false })],
    ['omits an earlier run', baseline({ runs: false })],
  ])('drops a snapshot that %s', (_, content) => {
    const [events, losses] = sealed([{ type: 'message-snapshot', content }], { resumes: 'r0', message: baseline({}) });
    expect(events.filter(({ type }) => type === 'message-snapshot')).toHaveLength(1);
    expect(losses).toMatchObject([{ kind: 'repaired', what: 'message-snapshot' }]);
  });

  it('attributes a part that names only its step to the agent of the step', () => {
    const [events, losses] = sealed([
      { type: 'agent-start', agentId: 'a', name: 'A', kind: 'agent' },
      { type: 'step-start', stepId: 's', agentId: 'a' },
      { type: 'text-start', id: '1', stepId: 's' },
    ]);
    expect(events[3]).toEqual({ type: 'text-start', id: '1', stepId: 's', agentId: 'a' });
    expect(losses).toEqual([]);
  });

  it('prefers the fields of tool-input-start over those of tool-call', () => {
    const inputStart = { toolCallId: 'c', toolName: 't', title: 'A', internal: true, to: ['x'] } as const;
    const [events] = sealed([
      { type: 'tool-input-start', ...inputStart, to: ['x'] },
      { type: 'tool-input-end', toolCallId: 'c' },
      { type: 'tool-call', toolCallId: 'c', toolName: 'other', title: 'B', input: 1, executor: 'client' },
    ]);
    expect(events[3]).toEqual({ type: 'tool-call', ...inputStart, input: 1, executor: 'client' });
  });

  it('ignores resumes without a message to continue, and reports it', () => {
    const [events, losses] = sealed([], { resumes: 'r0' });
    expect(events[0]).toEqual(start);
    expect(losses).toMatchObject([{ what: 'run-start', why: expect.stringContaining('r0') }]);
  });

  it('ends open agents with the corrected outcome of the run', () => {
    const [events] = sealed([
      { type: 'agent-start', agentId: 'a', name: 'A', kind: 'agent' },
      { type: 'run-end', outcome: 'paused', waitingFor: [] },
    ]);
    expect(events.slice(2)).toEqual([
      { type: 'agent-end', agentId: 'a', outcome: 'complete' },
      { type: 'run-end', outcome: 'complete' },
    ]);
  });

  it('drops patches of discarded data, and data that changes between transient and stored', () => {
    const [, losses] = sealed([
      { type: 'step-start', stepId: 's' },
      { type: 'data', id: 'd', name: 'n', data: [], stepId: 's' },
      { type: 'step-end', stepId: 's', discarded: true },
      { type: 'data-delta', id: 'd', patch: [] },
      { type: 'data', id: 'e', name: 'n', data: [] },
      { type: 'data', id: 'e', name: 'n', data: [], transient: true },
    ]);
    expect(losses.map(({ what, id }) => `${what} ${id}`)).toEqual(['data-delta d', 'data e']);
  });

  it('applies a patch of 150,000 operations, and a copy of the result', () => {
    const patch = Array.from({ length: 150_000 }, () => ({ op: 'add' as const, path: '/a/-', value: 1 }));
    const [, losses] = sealed([
      { type: 'state-snapshot', state: { a: [] } },
      { type: 'state-delta', patch },
      { type: 'state-delta', patch: [{ op: 'copy', from: '/a', path: '/b' }] },
    ]);
    expect(losses).toEqual([]);
  });
});

function baseline(changes: { text?: string; answered?: false; runs?: false }): MessageContent {
  const answer = changes.answered === false ? {} : { answer: { questionId: 'q', value: 1 } };
  return {
    format: 2,
    parts: [
      { type: 'text', id: '0', text: changes.text ?? 'text of run 0' },
      { type: 'question', questionId: 'q', kind: 'input', ...answer },
    ],
    ...(changes.runs !== false && { runs: [{ runId: 'r0', outcome: 'complete' }] }),
  };
}

it('writes the answers and the state of a continuation whose source sends its own run-start', () => {
  const losses: Loss[] = [];
  const question = { type: 'question', questionId: 'q', kind: 'input' } as const;
  const message: MessageContent = { format: 2, parts: [question] };
  const input: RunInput = { ...run, resumes: 'r0', message, answers: [{ questionId: 'q', value: 1 }], state: { n: 1 } };
  const events = transcode(
    seal(input, (loss) => losses.push(loss)),
    [{ ...start, type: 'run-start' } as AgentEvent, { type: 'notice', level: 'info', message: 'Hi' }],
  );
  const types = events.map(({ type }) => type);
  expect(types).toEqual(['run-start', 'message-snapshot', 'answer', 'state-snapshot', 'notice', 'run-end']);
  expect(losses).toEqual([]);
});
