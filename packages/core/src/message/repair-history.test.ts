import { describe, expect, it } from 'vitest';
import type { CanonicalMessage, MessagePart, MessageRole, ToolPart } from '../event/message.ts';
import { repairHistory } from './repair-history.ts';

const message = (id: string, role: MessageRole, ...parts: MessagePart[]): CanonicalMessage => ({
  id,
  threadId: 't',
  role,
  type: 'text',
  content: { format: 2, parts },
  createdAt: new Date(0),
});
const text = (value: string): MessagePart => ({ type: 'text', text: value });
const call = (toolCallId: string, fields: Partial<ToolPart> = {}): ToolPart => ({
  type: 'tool-invocation',
  toolCallId,
  toolName: 'weather',
  state: 'call',
  args: {},
  ...fields,
});
const user = message('u', 'user', text('hi'));

describe('repairHistory', () => {
  it('returns the same objects for a valid history', () => {
    const sound = [user, message('a', 'assistant', text('ok'), call('c', { state: 'result', result: 1 }))];
    const { messages, repairs } = repairHistory(sound);
    expect(repairs).toEqual([]);
    expect(messages.every((entry, index) => entry === sound[index])).toBe(true);
  });

  it('settles an open call with an error that explains the crash', () => {
    const broken = message('a', 'assistant', call('c', { result: 'half', preliminary: true }));
    const { messages, repairs } = repairHistory([user, broken]);
    expect(messages[1]!.content.parts[0]).toEqual(
      call('c', { state: 'error', error: expect.objectContaining({ code: 'unsettled', data: 'half' }) }),
    );
    expect(repairs).toMatchObject([{ kind: 'unsettled-call', messageId: 'a', id: 'c' }]);
    expect(broken.content.parts[0], 'stored truth is never rewritten').toMatchObject({
      state: 'call',
      preliminary: true,
    });
  });

  it('omits a call whose input was cut off when its process stopped', () => {
    const error = { message: 'Cut off', code: 'cut-off' };
    const cutOff = call('c', { state: 'error', invalid: true, error });
    const { messages, repairs } = repairHistory([user, message('a', 'assistant', text('ok'), cutOff)]);
    expect(messages[1]!.content.parts).toEqual([text('ok')]);
    expect(repairs).toMatchObject([{ kind: 'partial-call', messageId: 'a', id: 'c' }]);
  });

  it('keeps the open calls and questions of the continued message', () => {
    const waiting = message('a', 'assistant', call('c'), { type: 'question', questionId: 'q', kind: 'input' });
    expect(repairHistory([user, waiting], { continues: 'a' })).toEqual({ messages: [user, waiting], repairs: [] });
  });

  it.each([
    ['denied', { questionId: 'q', approved: false, reason: 'too dear' }, 'too dear'],
    ['cancelled', { questionId: 'q', cancelled: true as const }, 'No approval was given.'],
    ['unanswered', undefined, 'No approval was given.'],
  ])('denies a call whose approval is %s', (_, answer, reason) => {
    const approval = { questionId: 'q', kind: 'approval' as const, ...(answer && { answer }) };
    const { messages } = repairHistory([user, message('a', 'assistant', call('c', { approval }))]);
    expect(messages[1]!.content.parts[0]).toMatchObject({ state: 'denied', error: { message: reason } });
  });

  it('marks an approved call without a result as interrupted', () => {
    const approval = { questionId: 'q', kind: 'approval' as const, answer: { questionId: 'q', approved: true } };
    const { messages } = repairHistory([user, message('a', 'assistant', call('c', { approval }))]);
    expect(messages[1]!.content.parts[0]).toMatchObject({ state: 'error', error: { code: 'unsettled' } });
  });

  it('omits partial calls, whitespace and then empty messages', () => {
    const { messages, repairs } = repairHistory([
      user,
      message('a', 'assistant', text(' \n'), call('c', { state: 'partial-call', argsText: '{"ci' })),
      message('b', 'assistant'),
    ]);
    expect(messages).toEqual([user]);
    expect(repairs.map(({ kind }) => kind)).toEqual(['empty-text', 'partial-call', 'empty-message', 'empty-message']);
  });

  it('keeps empty reasoning before other content, since it may carry a signature', () => {
    const signed: MessagePart = {
      type: 'reasoning',
      reasoning: '',
      providerMetadata: { anthropic: { signature: 's' } },
    };
    const answer = message('a', 'assistant', signed, text('so'));
    expect(repairHistory([answer])).toEqual({ messages: [answer], repairs: [] });
  });

  it('omits trailing reasoning of a stopped run', () => {
    const stopped = message('a', 'assistant', text('so'), { type: 'reasoning', reasoning: 'hm' });
    const { messages, repairs } = repairHistory([
      stopped,
      message('b', 'assistant', { type: 'reasoning', reasoning: 'hm' }),
    ]);
    expect(messages.map(({ content }) => content.parts)).toEqual([[text('so')]]);
    expect(repairs.map(({ kind }) => kind)).toEqual(['lone-reasoning', 'lone-reasoning', 'empty-message']);
  });

  it('reads the flat text of an imported message', () => {
    const flat = message('a', 'user');
    flat.content.content = 'hello there';
    const { messages, repairs } = repairHistory([flat]);
    expect(messages[0]!.content.parts).toEqual([text('hello there')]);
    expect(repairs).toMatchObject([{ kind: 'flat-content' }]);
  });

  it('omits whitespace with metadata unless it is signed', () => {
    const noted: MessagePart = { type: 'text', text: ' ', providerMetadata: { intertie: { agent: 'a' } } };
    const signed: MessagePart = { type: 'text', text: '', providerMetadata: { google: { thoughtSignature: 's' } } };
    expect(repairHistory([message('a', 'assistant', noted, signed)]).messages[0]!.content.parts).toEqual([signed]);
  });

  it('keeps a message with an answer and omits one with an empty interjection', () => {
    const asked = { type: 'question', questionId: 'q', kind: 'input' } as const;
    const answered = message('a', 'assistant', { ...asked, answer: { questionId: 'q', value: 7 } });
    const silent = message('b', 'assistant', { type: 'interjection', role: 'user', parts: [] });
    expect(repairHistory([answered, silent]).messages).toEqual([answered]);
  });

  it('merges the results of tool messages into their calls and omits orphans', () => {
    const { messages, repairs } = repairHistory([
      user,
      message('a', 'assistant', call('c')),
      message('r', 'tool', call('c', { state: 'result', result: 20 }), call('x', { state: 'result', result: 0 })),
    ]);
    expect(messages).toHaveLength(2);
    expect(messages[1]!.content.parts[0]).toMatchObject({ state: 'result', result: 20, args: {} });
    expect(repairs).toMatchObject([
      { kind: 'merged-result', id: 'c' },
      { kind: 'orphan-result', id: 'x' },
    ]);
  });

  it('omits a call with a repeated id', () => {
    const settled = call('c', { state: 'result', result: 1 });
    const { messages, repairs } = repairHistory([
      message('a', 'assistant', settled),
      message('b', 'assistant', text('x'), settled),
    ]);
    expect(messages[1]!.content.parts).toEqual([text('x')]);
    expect(repairs).toMatchObject([{ kind: 'repeated-call', messageId: 'b', id: 'c' }]);
  });

  it('cancels an unanswered question', () => {
    const asked = message('a', 'assistant', text('?'), { type: 'question', questionId: 'q', kind: 'input' });
    expect(repairHistory([asked]).messages[0]!.content.parts[1]).toMatchObject({
      answer: { questionId: 'q', cancelled: true },
    });
  });
});
