import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { mergeMessage, replaceMessage } from './merge-message.ts';
import type { CanonicalMessage, MessageContent, MessagePart, ToolPart, ToolState } from '../event/message.ts';
import { StoreError } from '../store/store-error.ts';

const createdAt = new Date('2024-03-01T10:00:00Z');

function message(parts: MessagePart[], rest: Partial<MessageContent> = {}): CanonicalMessage {
  const content: MessageContent = { format: 2, parts, ...rest };
  return { id: 'm1', threadId: 't1', role: 'assistant', type: 'text', createdAt, content };
}
function text(value: string, id?: string): MessagePart {
  return { type: 'text', text: value, ...(id !== undefined && { id }) };
}
function call(state: ToolState, rest: Partial<ToolPart> = {}): ToolPart {
  return { type: 'tool-invocation', toolCallId: 'c1', toolName: 'search', state, ...rest };
}
function mergeParts(stored: MessagePart[], incoming: MessagePart[]): MessagePart[] {
  return mergeMessage(message(stored), message(incoming)).content.parts;
}

/** Returns undefined if the texts of the two messages conflict. */
function mergeOrRefuse(stored: CanonicalMessage, incoming: CanonicalMessage): CanonicalMessage | undefined {
  try {
    return mergeMessage(stored, incoming);
  } catch (error) {
    if (error instanceof StoreError && error.code === 'content-conflict') return undefined;
    throw error;
  }
}

describe('mergeMessage', () => {
  it('keeps author, time and parent of the stored message', () => {
    const stored = { ...message([]), parentId: 'm0', resourceId: 'ada' };
    const incoming: CanonicalMessage = {
      ...message([text('hi')]),
      role: 'user',
      parentId: 'm9',
      createdAt: new Date(0),
    };
    expect(mergeMessage(stored, { ...incoming, state: { a: 1 } })).toEqual({
      ...stored,
      content: { format: 2, parts: [text('hi')] },
      state: { a: 1 },
    });
    expect(mergeMessage(message([]), { ...message([]), parentId: 'm9' }).parentId).toBeUndefined();
  });

  it('does not reopen a finished message', () => {
    const done: CanonicalMessage = { ...message([]), status: 'complete' };
    const streaming: CanonicalMessage = { ...message([]), status: 'streaming' };
    expect(mergeMessage(done, streaming).status).toBe('complete');
    expect(mergeMessage(streaming, done).status).toBe('complete');
    expect(mergeMessage(message([]), streaming).status).toBe('streaming');
  });

  it('extends a text and ignores a late save of a shorter prefix', () => {
    expect(mergeParts([text('Hello', 'a')], [text('Hel', 'a')])).toEqual([text('Hello', 'a')]);
    expect(mergeParts([text('Hel', 'a')], [text('Hello', 'a')])).toEqual([text('Hello', 'a')]);
    expect(mergeParts([text('Hello', 'a')], [text('Hel')])).toEqual([text('Hello', 'a')]);
    expect(mergeParts([text('Hel')], [text('Hello', 'a')])).toEqual([text('Hello', 'a')]);
    const partial = (argsText: string) => call('partial-call', { argsText });
    expect(mergeParts([partial('{"q":1')], [partial('{"other"')])).toEqual([partial('{"q":1')]);
    expect(mergeParts([partial('{"q"')], [partial('{"q":1')])).toEqual([partial('{"q":1')]);
    expect(mergeParts([{ type: 'reasoning', reasoning: 'Because' }], [{ type: 'reasoning', reasoning: '' }])).toEqual([
      { type: 'reasoning', reasoning: 'Because' },
    ]);
  });

  it.each<[string, MessagePart[], MessagePart[]]>([
    ['the same id', [text('Hello', 'a')], [text('Help', 'a')]],
    ['no ids', [text('Hello')], [text('Goodbye')]],
    ['a stored id only', [text('Hello', 'a')], [text('Goodbye')]],
    ['an incoming id only', [text('Hello')], [text('Goodbye', 'a')]],
    ['an equal part before it', [text('first'), text('second')], [text('first'), text('third')]],
    ['a call before it', [call('result'), text('Hello')], [call('result'), text('Goodbye')]],
    ['reasoning', [{ type: 'reasoning', reasoning: 'Because' }], [{ type: 'reasoning', reasoning: 'Perhaps' }]],
  ])('rejects a text that neither extends the stored one nor is a prefix of it: %s', (_, stored, incoming) => {
    expect(() => mergeParts(stored, incoming)).toThrow(
      expect.objectContaining({
        name: 'StoreError',
        code: 'content-conflict',
        message: expect.stringMatching(/content\.parts\[[01]\] of message "m1".*new id.*mode: 'replace'/),
      }),
    );
  });

  it('adds a text that the stored message lacks', () => {
    expect(mergeParts([text('one')], [text('one'), text('two')])).toEqual([text('one'), text('two')]);
    expect(mergeParts([{ type: 'reasoning', reasoning: 'Hm' }], [text('one')])).toHaveLength(2);
    const other: MessagePart = { ...text('two'), agentId: 'a2' };
    expect(mergeParts([{ ...text('one'), agentId: 'a1' }], [other])).toHaveLength(2);
  });

  it('extends the flat text of an imported message and rejects a rewrite', () => {
    const flat = (stored: string, incoming?: string) =>
      mergeMessage(message([], { content: stored }), message([], incoming === undefined ? {} : { content: incoming }))
        .content.content;
    expect(() => flat('Hello', 'Hi')).toThrow(expect.objectContaining({ code: 'content-conflict' }));
    expect(flat('Hello', 'Hel')).toBe('Hello');
    expect(flat('Hello')).toBe('Hello');
    expect(flat('Hel', 'Hello')).toBe('Hello');
  });

  it('adds the fields of an equal text', () => {
    const cited: MessagePart = { type: 'text', id: 'a', text: 'Hi', citations: [1, 2] };
    expect(mergeParts([{ ...cited, citations: [1] }], [cited])).toEqual([cited]);
  });

  it('keeps missing parts in place and inserts new ones in the incoming order', () => {
    const [a, b, c, n] = [text('a', 'a'), text('b', 'b'), text('c', 'c'), text('n', 'n')];
    expect(mergeParts([a, b, c], [a, c])).toEqual([a, b, c]);
    expect(mergeParts([a, c], [a, b, c])).toEqual([a, b, c]);
    expect(mergeParts([a, b], [a, n])).toEqual([a, b, n]);
    expect(mergeParts([a, b], [n, b, a])).toEqual([a, n, b]);
    expect(mergeParts([a], [])).toEqual([a]);
  });

  it('matches parts without an id by content, never by position alone', () => {
    expect(mergeParts([text('first'), text('second')], [text('second')])).toEqual([text('first'), text('second')]);
    expect(mergeParts([text('first'), text('second')], [text('sec')])).toEqual([text('first'), text('second')]);
    expect(mergeParts([text('a')], [text('ab'), text('a')])).toEqual([text('ab'), text('a')]);
    expect(mergeParts([text('one'), call('call'), text('two')], [text('one'), text('two, longer')])).toEqual([
      text('one'),
      call('call'),
      text('two, longer'),
    ]);
  });

  it('never moves a call to an earlier state', () => {
    const partial = call('partial-call', { argsText: '{"q":' });
    const asked = call('call', { args: { q: 1 } });
    const preliminary = call('call', { args: { q: 1 }, result: 'soon', preliminary: true });
    const settled = call('result', { args: { q: 1 }, result: 'found' });
    const failed = call('error', { error: { message: 'no' } });
    expect(mergeParts([partial], [asked])).toEqual([asked]);
    expect(mergeParts([asked], [partial])).toEqual([asked]);
    expect(mergeParts([asked], [preliminary])).toEqual([preliminary]);
    expect(mergeParts([preliminary], [asked])).toEqual([preliminary]);
    expect(mergeParts([preliminary], [settled])).toEqual([settled]);
    expect(mergeParts([preliminary], [failed])).toEqual([{ ...failed, args: { q: 1 } }]);
    expect(mergeParts([settled], [failed])).toEqual([settled]);
    expect(mergeParts([settled], [preliminary])).toEqual([settled]);
    expect(mergeParts([partial], [call('partial-call', { argsText: '{' })])).toEqual([partial]);
  });

  it('keeps the first answer to a question', () => {
    const question = { questionId: 'q1', kind: 'approval' as const };
    const yes = { ...question, answer: { questionId: 'q1', approved: true } };
    const no = { ...question, answer: { questionId: 'q1', approved: false } };
    expect(mergeParts([call('call', { approval: question })], [call('call', { approval: yes })])).toEqual([
      call('call', { approval: yes }),
    ]);
    expect(mergeParts([call('call', { approval: yes })], [call('call', { approval: no })])).toEqual([
      call('call', { approval: yes }),
    ]);
    expect(mergeParts([{ type: 'question', ...yes }], [{ type: 'question', ...question }])).toEqual([
      { type: 'question', ...yes },
    ]);
  });

  it('does not mix the bodies of two files', () => {
    const uploaded: MessagePart = { type: 'file', id: 'f', agentId: 'a1', data: 'aGk=' };
    expect(mergeParts([uploaded], [{ type: 'file', id: 'f', url: 'https://example.com/f' }])).toEqual([
      { type: 'file', id: 'f', agentId: 'a1', url: 'https://example.com/f' },
    ]);
  });

  it('merges metadata and the directories of agents, steps and runs', () => {
    const stored = message([{ ...text('a', 'a'), providerMetadata: { openai: { id: 1 }, mail: { x: 1 } } }], {
      metadata: { user: { name: 'Ada', tags: [1] } },
      agents: { a1: { name: 'planner', kind: 'agent', outcome: 'complete' } },
      steps: { s1: { name: 'one' } },
      runs: [{ runId: 'r1', outcome: 'complete' }],
    });
    const builder = { name: 'builder', kind: 'agent' } as const;
    const incoming = message([{ ...text('ab', 'a'), providerMetadata: { openai: { id: 2 } } }], {
      metadata: { user: { tags: [2] }, pinned: true },
      agents: { a1: { name: 'planner', kind: 'agent' }, constructor: builder },
      runs: [
        { runId: 'r1', outcome: 'error', error: { message: 'late' } },
        { runId: 'r2', outcome: 'complete' },
      ],
    });
    expect(mergeMessage(stored, incoming).content).toEqual({
      format: 2,
      parts: [{ ...text('ab', 'a'), providerMetadata: { openai: { id: 2 }, mail: { x: 1 } } }],
      metadata: { user: { name: 'Ada', tags: [2] }, pinned: true },
      agents: {
        a1: { name: 'planner', kind: 'agent', outcome: 'complete' },
        constructor: builder,
      },
      steps: { s1: { name: 'one' } },
      runs: [
        { runId: 'r1', outcome: 'complete' },
        { runId: 'r2', outcome: 'complete' },
      ],
    });
  });

  it('is idempotent, keeps every part and does not change its arguments', () => {
    const part: fc.Arbitrary<MessagePart> = fc.oneof(
      fc
        .record({
          value: fc.string({ unit: fc.constantFrom('x', 'y'), maxLength: 3 }),
          id: fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined }),
        })
        .map(({ value, id }) => text(value, id)),
      fc.constantFrom<ToolState>('partial-call', 'call', 'result', 'error', 'denied').map((state) => call(state)),
      fc.record({ type: fc.constant('data' as const), data: fc.integer() }),
    );
    const identity = (value: MessagePart): string | object =>
      value.type === 'tool-invocation' ? value.toolCallId : value.id === undefined ? {} : value.type + value.id;
    const parts = fc.uniqueArray(part, { selector: identity });
    fc.assert(
      fc.property(parts, parts, (before, after) => {
        const [stored, incoming] = [message(before), message(after)];
        const untouched = structuredClone([stored, incoming]);
        const merged = mergeOrRefuse(stored, incoming);
        expect([stored, incoming]).toEqual(untouched);
        if (!merged) return;
        expect(mergeMessage(merged, incoming)).toEqual(merged);
        expect(merged.content.parts.length).toBeGreaterThanOrEqual(Math.max(before.length, after.length));
        const kept = before
          .map((p) => (p.type === 'tool-invocation' ? p.toolCallId : p.id))
          .filter((id) => id !== undefined);
        const ids = merged.content.parts.map((p) => (p.type === 'tool-invocation' ? p.toolCallId : p.id));
        expect(ids.filter((id) => id !== undefined && kept.includes(id))).toEqual(kept);
      }),
    );
  });
});

describe('replaceMessage', () => {
  const replace = (stored: MessagePart[], incoming: MessagePart[]): MessagePart[] =>
    replaceMessage(message(stored), message(incoming)).content.parts;

  it('replaces texts, files and unsettled calls', () => {
    expect(replace([text('Hello', 'a'), call('call')], [text('Goodbye', 'a')])).toEqual([text('Goodbye', 'a')]);
    expect(replace([text('Hello')], [])).toEqual([]);
  });

  it('keeps settled calls and their results', () => {
    const settled = call('result', { result: 'found' });
    const other = call('denied', { toolCallId: 'c2' });
    expect(replace([text('a'), settled, text('b')], [text('c')])).toEqual([settled, text('c')]);
    expect(replace([settled], [text('a'), call('call'), text('b')])).toEqual([text('a'), settled, text('b')]);
    expect(replace([settled, other], [call('result', { result: 'other' })])).toEqual([settled, other]);
  });

  it('keeps author, time, parent and the record of runs, and drops other fields of the content', () => {
    const runs = [{ runId: 'r1', outcome: 'complete' as const }];
    const stored: CanonicalMessage = {
      ...message([text('Hello')], { content: 'Hello', metadata: { a: 1 }, runs, steps: { s1: { name: 'one' } } }),
      parentId: 'm0',
      status: 'complete',
    };
    const incoming: CanonicalMessage = { ...message([text('Hi')]), role: 'user', createdAt: new Date(0) };
    expect(replaceMessage(stored, incoming)).toEqual({
      ...stored,
      content: { format: 2, parts: [text('Hi')], runs, steps: { s1: { name: 'one' } } },
    });
  });

  it('rejects a message that waits for an answer', () => {
    const paused: CanonicalMessage = { ...message([]), status: 'paused' };
    expect(() => replaceMessage(paused, message([]))).toThrow(expect.objectContaining({ code: 'busy' }));
  });
});
