import type { CanonicalMessage, Loss, MessagePart, MessageRole } from '@intertie/core';
import type { ToolPart } from '@intertie/core/internal';
import { describe, expect, test } from 'vitest';
import { fromModelMessages } from './from-model-messages.ts';
import { toAiSdkMessages, type ToAiSdkMessagesOptions } from './to-ai-sdk-messages.ts';

let count = 0;
const message = (role: MessageRole, ...parts: MessagePart[]): CanonicalMessage => ({
  id: `m${count++}`,
  threadId: 't',
  role,
  type: 'text',
  content: { format: 2, parts },
  createdAt: new Date(0),
});
const text = (value: string, more: object = {}): MessagePart => ({ type: 'text', text: value, ...more });
const tool = (more: Partial<ToolPart> = {}): ToolPart => ({
  type: 'tool-invocation',
  toolCallId: 'c',
  toolName: 'weather',
  state: 'result',
  args: {},
  result: 'sun',
  ...more,
});

/** Converts messages, and returns them without our metadata together with the losses. */
function convert(messages: CanonicalMessage[], options: ToAiSdkMessagesOptions = {}) {
  const losses: Loss[] = [];
  const made = toAiSdkMessages(messages, {
    provider: 'anthropic.messages',
    onLoss: (loss) => losses.push(loss),
    ...options,
  });
  return { messages: made, losses };
}
const getRoles = (...parts: MessagePart[]): string[] => {
  const { messages } = convert([message('assistant', ...parts)]);
  return messages.map(({ role, content }) =>
    typeof content === 'string' ? role : `${role}: ${content.map(({ type }) => type).join(' ')}`,
  );
};

describe('steps of an answer', () => {
  test('begins a new step with text after a result if parts have no step id', () => {
    expect(getRoles(text('a'), tool(), text('b'))).toEqual([
      'assistant: text tool-call',
      'tool: tool-result',
      'assistant: text',
    ]);
  });

  test('keeps parallel calls in one step', () => {
    expect(getRoles(tool(), tool({ toolCallId: 'd' }))).toEqual([
      'assistant: tool-call tool-call',
      'tool: tool-result tool-result',
    ]);
  });

  test('keeps text after a call in the step of its step id', () => {
    expect(getRoles({ ...tool(), stepId: '1' }, text('same', { stepId: '1' }), text('next', { stepId: '2' }))).toEqual([
      'assistant: tool-call text',
      'tool: tool-result',
      'assistant: text',
    ]);
  });

  test('writes steps of overlapping agents one after the other', () => {
    const parts = [
      text('a1', { stepId: 'a' }),
      text('b1', { stepId: 'b' }),
      { ...tool(), stepId: 'a' },
      text('b2', { stepId: 'b' }),
    ];
    expect(getRoles(...parts)).toEqual(['assistant: text tool-call', 'tool: tool-result', 'assistant: text text']);
  });

  test('keeps results of provider tools in their place', () => {
    expect(getRoles(tool({ executor: 'provider' }), text('b'))).toEqual(['assistant: tool-call tool-result text']);
  });
});

test('sends interjections of user and system as user messages', () => {
  const interjection = (role: 'user' | 'system', value: string): MessagePart => ({
    type: 'interjection',
    role,
    parts: [{ type: 'text', text: value }],
  });
  const { messages } = convert([
    message('assistant', text('a'), interjection('user', 'wait'), interjection('system', 'note'), text('b')),
  ]);
  expect(messages.map(({ role }) => role)).toEqual(['assistant', 'user', 'user', 'assistant']);
});

test('sends files as data, URL or reference and drops relative URLs', () => {
  const { messages, losses } = convert([
    message(
      'user',
      { type: 'file', mimeType: 'image/png', data: 'aGk=', filename: 'a.png' },
      { type: 'file', url: 'https://example.com/b.png' },
      { type: 'file', reference: { provider: 'anthropic', ref: 'file_1' } },
      { type: 'file', reference: { provider: 'openai', ref: 'file-2' } },
      { type: 'file', id: 'rel', url: '/c.png' },
    ),
  ]);
  expect(messages).toEqual([
    {
      role: 'user',
      content: [
        { type: 'file', mediaType: 'image/png', data: 'aGk=', filename: 'a.png' },
        { type: 'file', mediaType: 'application/octet-stream', data: new URL('https://example.com/b.png') },
        { type: 'file', mediaType: 'application/octet-stream', data: 'file_1' },
      ],
    },
  ]);
  expect(losses.map(({ kind, what }) => `${kind} ${what}`)).toEqual(['unsupported file', 'unsupported file']);
});

test('joins system texts and drops data, sources and questions', () => {
  const { messages, losses } = convert([
    message('system', text('Be brief.'), text(' And kind.')),
    message(
      'assistant',
      text('a'),
      { type: 'source', id: 's', url: 'https://example.com/' },
      { type: 'data', id: 'd', name: 'chart', data: 1 },
      { type: 'question', questionId: 'q', kind: 'input', answer: { questionId: 'q', value: 1 } },
    ),
  ]);
  expect(messages).toEqual([
    { role: 'system', content: 'Be brief. And kind.' },
    { role: 'assistant', content: [{ type: 'text', text: 'a' }] },
  ]);
  expect(losses.map(({ what }) => what)).toEqual(['source', 'data', 'question']);
});

test('converts imported text without parts and keeps options of user messages', () => {
  const imported = message('user');
  imported.content.content = 'hi';
  imported.content.providerMetadata = { anthropic: { cacheControl: { type: 'ephemeral' } }, openai: {} };
  expect(convert([imported]).messages).toEqual([
    {
      role: 'user',
      content: [{ type: 'text', text: 'hi' }],
      providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
    },
  ]);
});

test.each<[string, Partial<ToolPart>, object]>([
  ['text', { result: 'sun' }, { type: 'text', value: 'sun' }],
  ['JSON', { result: { sun: true } }, { type: 'json', value: { sun: true } }],
  [
    'content',
    {
      result: [
        { type: 'text', text: 'a' },
        { type: 'file', mimeType: 'image/png', data: 'aGk=' },
      ],
      resultContent: true,
    },
    {
      type: 'content',
      value: [
        { type: 'text', text: 'a' },
        { type: 'file-data', mediaType: 'image/png', data: 'aGk=' },
      ],
    },
  ],
  ['an error', { state: 'error', error: { message: 'broke' } }, { type: 'error-text', value: 'broke' }],
  ['a denial', { state: 'denied', error: { message: 'no' } }, { type: 'execution-denied', reason: 'no' }],
  ['an interrupted call', { state: 'call' }, { type: 'error-text', value: expect.stringContaining('interrupted') }],
])('encodes the outcome of a call: %s', (_, part, output) => {
  const { messages } = convert([message('assistant', tool(part))]);
  expect(messages[1]).toMatchObject({ role: 'tool', content: [{ toolCallId: 'c', output }] });
});

test('returns the error value of a provider tool and drops its unfinished calls', () => {
  const failed = tool({ executor: 'provider', state: 'error', error: { message: '{}', data: { code: 1 } } });
  expect(convert([message('assistant', failed)]).messages).toMatchObject([
    { content: [{ type: 'tool-call' }, { type: 'tool-result', output: { type: 'error-json', value: { code: 1 } } }] },
  ]);
  const { messages, losses } = convert([
    message('assistant', text('a'), tool({ executor: 'provider', state: 'call' })),
  ]);
  expect(messages).toEqual([{ role: 'assistant', content: [{ type: 'text', text: 'a' }] }]);
  expect(losses.map(({ what }) => what)).toContain('provider call');
});

test('keeps answered approvals of the continued message open', () => {
  const answered = message(
    'assistant',
    tool({
      state: 'call',
      approval: {
        questionId: 'q',
        kind: 'approval',
        toolCallId: 'c',
        providerMetadata: { 'ai-sdk': { signature: 'sig' } },
        answer: { questionId: 'q', approved: true },
      },
    }),
  );
  expect(convert([answered], { continues: answered.id }).messages).toEqual([
    {
      role: 'assistant',
      content: [
        { type: 'tool-call', toolCallId: 'c', toolName: 'weather', input: {} },
        { type: 'tool-approval-request', approvalId: 'q', toolCallId: 'c', signature: 'sig' },
      ],
    },
    { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: 'q', approved: true }] },
  ]);
});

test('wraps an input that is not an object and restores it', () => {
  const original = message('assistant', tool({ args: 'Paris' }));
  const [first] = toAiSdkMessages([original]);
  expect(first).toMatchObject({ content: [{ input: { value: 'Paris' } }] });
  const [restored] = fromModelMessages(toAiSdkMessages([original]), { threadId: 't' });
  expect(restored!.content.parts).toEqual(original.content.parts);
});

test('sends custom parts, reasoning files and references with version 7', () => {
  const original = message(
    'assistant',
    text('a'),
    { type: 'data', name: 'provider:openai.compaction', data: null, providerMetadata: { openai: { itemId: 'i' } } },
    { type: 'file', mimeType: 'image/png', data: 'aGk=', reasoning: true },
  );
  expect(convert([original], { version: 7, provider: 'openai.responses' }).messages).toMatchObject([
    {
      content: [
        { type: 'text' },
        { type: 'custom', kind: 'openai.compaction', providerOptions: { openai: { itemId: 'i' } } },
        { type: 'reasoning-file', data: 'aGk=' },
      ],
    },
  ]);
  expect(convert([original]).losses.map(({ what }) => what)).toEqual(expect.arrayContaining(['data', 'file']));
});

test('renames repeated call ids together with their results', () => {
  const numbered = (result: string): CanonicalMessage => message('assistant', tool({ toolCallId: '0', result }));
  const [first, second] = [numbered('a'), numbered('b')];
  const imported = message('tool', tool({ toolCallId: '0', result: 'c' }));
  const third = message('assistant', tool({ toolCallId: '0', state: 'call' }));
  const { messages, losses } = convert([first, second, third, imported]);
  const results = messages.flatMap(({ role, content }) => (role === 'tool' ? content : []));
  expect(results).toMatchObject([
    { toolCallId: '0', output: { value: 'a' } },
    { toolCallId: `${second.id}_0`, output: { value: 'b' } },
    { toolCallId: `${third.id}_0`, output: { value: 'c' } },
  ]);
  expect(losses.filter(({ what }) => what === 'tool call id')).toHaveLength(2);
});
