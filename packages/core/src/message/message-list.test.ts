import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../event/event.ts';
import type { Loss } from '../json/loss.ts';
import { foldEvents, MessageList } from './message-list.ts';

const start: AgentEvent = {
  type: 'run-start',
  runId: 'r',
  threadId: 't',
  messageId: 'm',
  parentMessageId: 'u',
  at: 1000,
};
const end: AgentEvent = { type: 'run-end', outcome: 'complete', finishReason: 'stop' };
const fold = (...events: AgentEvent[]): ReturnType<typeof foldEvents> => foldEvents([start, ...events, end]);

describe('MessageList', () => {
  it('folds a run into one message', () => {
    const message = fold(
      { type: 'text-start', id: '1' },
      { type: 'text-delta', id: '1', delta: 'Hel' },
      { type: 'text-delta', id: '1', delta: 'lo' },
      { type: 'text-end', id: '1' },
    );
    expect(message).toEqual({
      id: 'm',
      threadId: 't',
      role: 'assistant',
      type: 'text',
      parentId: 'u',
      runId: 'r',
      status: 'complete',
      createdAt: new Date(1000),
      content: {
        format: 2,
        parts: [{ type: 'text', id: '1', text: 'Hello' }],
        runs: [{ runId: 'r', outcome: 'complete', finishReason: 'stop' }],
      },
    });
  });

  it('reports part, length and delta in a snapshot without reading the text', () => {
    const list = new MessageList();
    for (const event of [
      start,
      { type: 'text-start', id: '1' },
      { type: 'text-delta', id: '1', delta: 'Hello' },
    ] as AgentEvent[])
      list.feed(event);
    const early = list.snapshot()!;
    list.feed({ type: 'text-delta', id: '1', delta: ' you' });
    expect(list.snapshot()).toMatchObject({ messageId: 'm', partId: '1', length: 9, lastDelta: ' you' });
    expect(early).toMatchObject({ length: 5, lastDelta: 'Hello' });
    expect(early.message.content.parts).toEqual([{ type: 'text', id: '1', text: 'Hello' }]);
  });

  it('shares unchanged parts between snapshots', () => {
    const list = new MessageList();
    for (const event of [
      start,
      { type: 'text-start', id: '1' },
      { type: 'text-end', id: '1' },
      { type: 'text-start', id: '2' },
    ] as AgentEvent[])
      list.feed(event);
    const before = list.snapshot()!.message;
    list.feed({ type: 'text-delta', id: '2', delta: 'x' });
    const after = list.snapshot()!.message;
    expect(after.content.parts[0]).toBe(before.content.parts[0]);
    expect(after.content.parts[1]).not.toBe(before.content.parts[1]);
  });

  it('merges metadata per top-level key from start, delta, end and late events', () => {
    const message = fold(
      { type: 'reasoning-start', id: '1', providerMetadata: { intertie: { agent: 'a' } } },
      { type: 'reasoning-delta', id: '1', delta: '', providerMetadata: { anthropic: { signature: 's' } } },
      { type: 'reasoning-end', id: '1', providerMetadata: { openai: { itemId: 'i' } } },
      { type: 'metadata', id: '1', providerMetadata: { 'ag-ui': { encrypted: 'e' } } },
    );
    expect(message!.content.parts[0]!.providerMetadata).toEqual({
      intertie: { agent: 'a' },
      anthropic: { signature: 's' },
      openai: { itemId: 'i' },
      'ag-ui': { encrypted: 'e' },
    });
  });

  it('folds a call, its approval and its result into one part', () => {
    const message = fold(
      { type: 'tool-input-start', toolCallId: 'c', toolName: 'pay', providerMetadata: { p: { a: 1 } } },
      { type: 'tool-input-delta', toolCallId: 'c', delta: '{"eur"' },
      { type: 'tool-input-end', toolCallId: 'c' },
      { type: 'tool-call', toolCallId: 'c', toolName: 'pay', executor: 'runtime', input: { eur: 5 } },
      { type: 'question', questionId: 'q', kind: 'approval', toolCallId: 'c' },
      { type: 'answer', questionId: 'q', approved: true },
      { type: 'tool-result', toolCallId: 'c', status: 'ok', output: 'half', preliminary: true },
      { type: 'tool-result', toolCallId: 'c', status: 'ok', output: 'paid', providerMetadata: { p: { b: 2 } } },
    );
    expect(message!.content.parts).toEqual([
      {
        type: 'tool-invocation',
        toolCallId: 'c',
        toolName: 'pay',
        executor: 'runtime',
        state: 'result',
        args: { eur: 5 },
        result: 'paid',
        approval: { questionId: 'q', kind: 'approval', toolCallId: 'c', answer: { questionId: 'q', approved: true } },
        providerMetadata: { p: { a: 1 } },
        resultMetadata: { p: { b: 2 } },
      },
    ]);
  });

  it('keeps question ids in a separate namespace', () => {
    const message = fold(
      { type: 'question', questionId: '0', kind: 'input' },
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta: 'here' },
      { type: 'text-end', id: '0' },
      { type: 'text-start', id: 'q' },
      { type: 'text-end', id: 'q' },
      { type: 'question', questionId: 'q', kind: 'input' },
      { type: 'answer', questionId: 'q', value: 1 },
    );
    expect(message!.content.parts).toMatchObject([
      { questionId: '0' },
      { text: 'here' },
      { id: 'q' },
      { answer: { value: 1 } },
    ]);
  });

  it('accepts agents named like members of Object.prototype', () => {
    const message = fold(
      { type: 'agent-start', agentId: '__proto__', name: 'A', kind: 'agent' },
      { type: 'agent-end', agentId: '__proto__', outcome: 'complete' },
      { type: 'agent-end', agentId: 'constructor', outcome: 'complete' },
    );
    expect(Object.keys(message!.content.agents!)).toEqual(['__proto__']);
  });

  it('removes the parts of a discarded step (HelHello, ai 7)', () => {
    const message = fold(
      { type: 'step-start', stepId: 's1' },
      { type: 'text-start', id: '1', stepId: 's1' },
      { type: 'text-delta', id: '1', delta: 'Hel' },
      { type: 'text-end', id: '1' },
      { type: 'step-end', stepId: 's1', discarded: true },
      { type: 'step-start', stepId: 's2' },
      { type: 'text-start', id: '2', stepId: 's2' },
      { type: 'text-delta', id: '2', delta: 'Hello' },
      { type: 'text-end', id: '2' },
      { type: 'step-end', stepId: 's2' },
    );
    expect(message!.content.parts).toMatchObject([{ text: 'Hello' }]);
    expect(Object.keys(message!.content.steps!)).toEqual(['s2']);
  });

  it('removes questions about calls of a discarded step', () => {
    const message = fold(
      { type: 'step-start', stepId: 's1' },
      { type: 'tool-call', toolCallId: 'c', toolName: 't', input: 1, stepId: 's1' },
      { type: 'question', questionId: 'q1', kind: 'approval', toolCallId: 'c' },
      { type: 'question', questionId: 'q2', kind: 'approval', toolCallId: 'c' },
      { type: 'step-end', stepId: 's1', discarded: true },
    );
    expect(message!.content.parts).toEqual([]);
  });

  it('replaces text on a snapshot without undoing calls', () => {
    const message = fold(
      { type: 'tool-call', toolCallId: 'c', toolName: 't', input: 1 },
      { type: 'tool-result', toolCallId: 'c', status: 'ok', output: 2 },
      { type: 'tool-call', toolCallId: 'd', toolName: 't', input: 1 },
      {
        type: 'message-snapshot',
        content: {
          format: 2,
          parts: [
            { type: 'text', id: 'x', text: 'new' },
            { type: 'tool-invocation', toolCallId: 'c', toolName: 't', state: 'call', args: 1 },
          ],
        },
      },
    );
    expect(message!.content.parts).toMatchObject([
      { text: 'new' },
      { toolCallId: 'c', state: 'result' },
      { toolCallId: 'd' },
    ]);
  });

  it('ignores transient data, notices and raw events, and stores the state', () => {
    const message = fold(
      { type: 'data', id: 'd', name: 'progress', data: 1, transient: true },
      { type: 'data-delta', id: 'd', patch: [{ op: 'replace', path: '', value: 2 }] },
      { type: 'notice', level: 'error', message: 'hm' },
      { type: 'raw', dialect: 'x', value: 1 },
      { type: 'state-snapshot', state: { n: 1 } },
      { type: 'state-delta', patch: [{ op: 'replace', path: '/n', value: 2 }] },
    );
    expect(message!.content.parts).toEqual([]);
    expect(message!.state).toEqual({ n: 2 });
  });

  it('extends the message that a run continues', () => {
    const list = new MessageList({
      messages: [foldEvents([start, { ...end, outcome: 'paused', waitingFor: [{ type: 'message' }] }])!],
    });
    for (const event of [{ ...start, runId: 'r2', resumes: 'r' }, end] as AgentEvent[]) list.feed(event);
    list.feed({ ...start, runId: 'r3', messageId: 'm2' });
    expect(
      list.messages.map(({ id, status, content }) => [id, status, content.runs?.map(({ runId }) => runId)]),
    ).toEqual([
      ['m', 'complete', ['r', 'r2']],
      ['m2', 'streaming', undefined],
    ]);
  });

  it('reports events that do not fit and continues', () => {
    const losses: Loss[] = [];
    const list = new MessageList({ onLoss: (loss) => losses.push(loss) });
    list.feed({ type: 'text-delta', id: '1', delta: 'before the run' });
    list.feed(start);
    list.feed({ type: 'text-delta', id: '1', delta: 'of no part' });
    list.feed({ type: 'tool-result', toolCallId: 'c', status: 'ok', output: 1 });
    list.feed({ type: 'hologram' } as never);
    expect(losses.map(({ kind, what }) => `${kind} ${what}`)).toEqual([
      'late text-delta',
      'repaired text delta',
      'repaired tool-result',
    ]);
  });
});
