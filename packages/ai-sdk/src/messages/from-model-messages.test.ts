import type { Loss } from '@intertie/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromModelMessages } from './from-model-messages.ts';

const options = { threadId: 't', createdAt: new Date(7) };

test('joins the messages of one answer with a step per assistant message and results in their calls', () => {
  const [user, answer, second, ...none] = fromModelMessages(
    [
      { role: 'user', content: 'weather?' },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'hm', providerOptions: { anthropic: { signature: 's' } } },
          { type: 'tool-call', toolCallId: 'c', toolName: 'weather', input: { city: 'Paris' } },
        ],
      },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'c', toolName: 'weather', output: { type: 'text', value: 'sun' } },
        ],
      },
      { role: 'assistant', content: 'Sunny.' },
      { role: 'user', content: [{ type: 'image', image: new Uint8Array([104, 105]) }] },
    ],
    options,
  );
  expect(none).toEqual([]);
  expect(user).toMatchObject({ id: 't:0', role: 'user', createdAt: new Date(7) });
  expect(answer).toMatchObject({ id: 't:1', role: 'assistant', parentId: 't:0' });
  expect(answer!.content).toEqual({
    format: 2,
    steps: { 't:1:step-0': {}, 't:1:step-1': {} },
    parts: [
      { type: 'reasoning', reasoning: 'hm', providerMetadata: { anthropic: { signature: 's' } }, stepId: 't:1:step-0' },
      {
        type: 'tool-invocation',
        toolCallId: 'c',
        toolName: 'weather',
        state: 'result',
        args: { city: 'Paris' },
        result: 'sun',
        stepId: 't:1:step-0',
      },
      { type: 'text', text: 'Sunny.', stepId: 't:1:step-1' },
    ],
  });
  expect(second).toMatchObject({
    parentId: 't:1',
    content: { parts: [{ type: 'file', mimeType: 'image/*', data: 'aGk=' }] },
  });
});

test.each<[object, object]>([
  [
    { type: 'json', value: { a: 1 } },
    { state: 'result', result: { a: 1 } },
  ],
  [
    { type: 'error-text', value: 'broke' },
    { state: 'error', error: { message: 'broke' } },
  ],
  [
    { type: 'error-json', value: { code: 1 } },
    { state: 'error', error: { message: '{"code":1}', data: { code: 1 } } },
  ],
  [
    { type: 'execution-denied', reason: 'no' },
    { state: 'denied', error: { message: 'no' } },
  ],
  [
    {
      type: 'content',
      value: [
        { type: 'text', text: 'a' },
        { type: 'image-url', url: 'https://example.com/' },
      ],
    },
    { state: 'result', resultContent: true, result: [{ type: 'text' }, { type: 'file', url: 'https://example.com/' }] },
  ],
])('decodes the output %j', (output, part) => {
  const [answer] = fromModelMessages(
    [
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c', toolName: 'x', input: {} }] },
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c', toolName: 'x', output }] },
    ],
    options,
  );
  expect(answer!.content.parts).toMatchObject([part]);
});

test('decodes an approval request and its response', () => {
  const [answer] = fromModelMessages(
    [
      {
        role: 'assistant',
        content: [
          { type: 'tool-call', toolCallId: 'c', toolName: 'x', input: {} },
          { type: 'tool-approval-request', approvalId: 'q', toolCallId: 'c', signature: 'sig' },
        ],
      },
      { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: 'q', approved: false, reason: 'no' }] },
    ],
    options,
  );
  expect(answer!.content.parts).toMatchObject([
    {
      state: 'call',
      approval: {
        questionId: 'q',
        providerMetadata: { 'ai-sdk': { signature: 'sig' } },
        answer: { questionId: 'q', approved: false, reason: 'no' },
      },
    },
  ]);
});

test('reports results and responses without a call or request', () => {
  const losses: Loss[] = [];
  fromModelMessages(
    [
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'x' },
          { type: 'tool-approval-response', approvalId: 'q' },
        ],
      },
    ],
    { ...options, onLoss: (loss) => losses.push(loss) },
  );
  expect(losses.map(({ what, id }) => [what, id])).toEqual([
    ['tool-result', 'x'],
    ['tool-approval-response', 'q'],
  ]);
});

test('never throws on arbitrary values', () => {
  const part = fc.record({
    type: fc.constantFrom(
      'text',
      'file',
      'image',
      'reasoning',
      'tool-call',
      'tool-result',
      'tool-approval-request',
      'x',
    ),
    toolCallId: fc.oneof(fc.constant('c'), fc.anything()),
    approvalId: fc.constant('q'),
    data: fc.anything(),
    output: fc.anything(),
    providerOptions: fc.oneof(fc.anything(), fc.record({ intertie: fc.dictionary(fc.string(), fc.anything()) })),
  });
  const message = fc.record({
    role: fc.constantFrom('system', 'user', 'assistant', 'tool', 'x'),
    content: fc.oneof(fc.array(part), fc.anything()),
    providerOptions: fc.anything(),
  });
  fc.assert(
    fc.property(fc.array(fc.oneof(message, fc.anything())), (messages) => {
      expect(() => JSON.stringify(fromModelMessages(messages, options))).not.toThrow();
    }),
  );
});
