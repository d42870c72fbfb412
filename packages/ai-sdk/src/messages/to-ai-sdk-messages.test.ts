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

/** The messages without our slot, and the ledger. */
function convert(messages: CanonicalMessage[], options: ToAiSdkMessagesOptions = {}) {
  const losses: Loss[] = [];
  const made = toAiSdkMessages(messages, {
    provider: 'anthropic.messages',
    onLoss: (loss) => losses.push(loss),
    ...options,
  });
  return { messages: made, losses };
}
const rolesOf = (...parts: MessagePart[]): string[] => {
  const { messages } = convert([message('assistant', ...parts)]);
  return messages.map(({ role, content }) =>
    typeof content === 'string' ? role : `${role}: ${content.map(({ type }) => type).join(' ')}`,
  );
};

describe('the turns of an answer', () => {
  test('words after a result begin a new one, where nothing names the step', () => {
    expect(rolesOf(text('a'), tool(), text('b'))).toEqual([
      'assistant: text tool-call',
      'tool: tool-result',
      'assistant: text',
    ]);
  });

  test('calls side by side are one', () => {
    expect(rolesOf(tool(), tool({ toolCallId: 'd' }))).toEqual([
      'assistant: tool-call tool-call',
      'tool: tool-result tool-result',
    ]);
  });

  test('the step decides where there is one: text after a call in the same turn stays in it', () => {
    expect(rolesOf({ ...tool(), stepId: '1' }, text('same', { stepId: '1' }), text('next', { stepId: '2' }))).toEqual([
      'assistant: tool-call text',
      'tool: tool-result',
      'assistant: text',
    ]);
  });

  test('agents that overlap are told one after the other, each call with its result', () => {
    const parts = [
      text('a1', { stepId: 'a' }),
      text('b1', { stepId: 'b' }),
      { ...tool(), stepId: 'a' },
      text('b2', { stepId: 'b' }),
    ];
    expect(rolesOf(...parts)).toEqual(['assistant: text tool-call', 'tool: tool-result', 'assistant: text text']);
  });

  test('what the provider ran stays in its place', () => {
    expect(rolesOf(tool({ executor: 'provider' }), text('b'))).toEqual(['assistant: tool-call tool-result text']);
  });
});

test('an interjection is the user’s word at its place; a system’s is, too', () => {
  const words = (role: 'user' | 'system', value: string): MessagePart => ({
    type: 'interjection',
    role,
    parts: [{ type: 'text', text: value }],
  });
  const { messages } = convert([
    message('assistant', text('a'), words('user', 'wait'), words('system', 'note'), text('b')),
  ]);
  expect(messages.map(({ role }) => role)).toEqual(['assistant', 'user', 'user', 'assistant']);
});

test('files: bytes, URLs, references; a relative URL leads nowhere', () => {
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

test('the system’s words are one text; data, sources and questions are not for models', () => {
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

test('an imported text without parts, and a message of a person with options', () => {
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
  [
    'a call that was interrupted',
    { state: 'call' },
    { type: 'error-text', value: expect.stringContaining('interrupted') },
  ],
])('a result that is %s', (_, part, output) => {
  const { messages } = convert([message('assistant', tool(part))]);
  expect(messages[1]).toMatchObject({ role: 'tool', content: [{ toolCallId: 'c', output }] });
});

test('a provider’s own tool that failed gets its value back, one that never ended is left out', () => {
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

test('what is continued stays open: the answer goes back with the call', () => {
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

test('an input that is no object is made one, and comes back as it was', () => {
  const original = message('assistant', tool({ args: 'Paris' }));
  const [first] = toAiSdkMessages([original]);
  expect(first).toMatchObject({ content: [{ input: { value: 'Paris' } }] });
  const [restored] = fromModelMessages(toAiSdkMessages([original]), { threadId: 't' });
  expect(restored!.content.parts).toEqual(original.content.parts);
});

test('7 can be sent what only it has', () => {
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

test('a model that numbers its calls from zero in every answer: the later ones are renamed, with their results', () => {
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
