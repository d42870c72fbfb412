import type { Loss } from '@intertie/core';
import { describe, expect, it } from 'vitest';
import { encodeInterruptId } from '../shared/interrupt.ts';
import { fromAGUIMessages } from './from-ag-ui-messages.ts';

const user = { id: 'u', role: 'user', content: 'Go.' };
const assistant = (more: object): object => ({ id: 'a', role: 'assistant', ...more });
const call = (id: string, more: object = {}): object => ({
  id,
  type: 'function',
  function: { name: 'act', arguments: '{"n":1}' },
  ...more,
});

describe('fromAGUIMessages', () => {
  it.each([
    [
      'image',
      { type: 'data', value: 'aGk=', mimeType: 'image/png' },
      { type: 'file', mediaType: 'image/png', data: 'aGk=' },
    ],
    ['audio', { type: 'data', value: 'aGk=', mimeType: 'audio/wav' }, { type: 'file', mediaType: 'audio/wav' }],
    ['document', { type: 'url', value: 'https://example.com/a.pdf', mimeType: 'application/pdf' }, { type: 'file' }],
    [
      'video',
      { type: 'url', value: 'data:video/mp4;base64,aGk=' },
      { type: 'file', mediaType: 'video/mp4', data: 'aGk=' },
    ],
  ])('converts a file part: %s', (type, source, part) => {
    const messages = [
      {
        ...user,
        content: [
          { type: 'text', text: 'See' },
          { type, source },
        ],
      },
    ];
    expect(fromAGUIMessages(messages)).toMatchObject([
      { role: 'user', content: [{ type: 'text', text: 'See' }, part] },
    ]);
  });

  it.each([
    [{ data: 'aGk=' }, { mediaType: 'image/png', data: 'aGk=' }],
    [{ url: 'https://example.com/a.png' }, { mediaType: 'image/png' }],
    [{ url: 'data:image/png;base64,aGk=' }, { mediaType: 'image/png', data: 'aGk=' }],
  ])('converts a binary part of old clients: %j', (body, part) => {
    const binary = { type: 'binary', mimeType: 'image/png', filename: 'a.png', ...body };
    expect(fromAGUIMessages([{ ...user, content: [binary] }])).toMatchObject([
      { role: 'user', content: [{ type: 'file', filename: 'a.png', ...part }] },
    ]);
  });

  it('leaves out and reports unusable parts', () => {
    const losses: Loss[] = [];
    const content = [{ type: 'text', text: 'See' }, { type: 'hologram' }, { type: 'image', source: { type: 'data' } }];
    const messages = fromAGUIMessages([{ ...user, content }], { onLoss: (loss) => losses.push(loss) });
    expect(messages).toMatchObject([{ role: 'user', content: [{ text: 'See' }] }]);
    expect(losses).toMatchObject([{ what: 'content part hologram' }, { what: 'content part image' }]);
  });

  it.each([
    ['anthropic', { signature: 'sig' }],
    ['anthropic', { redactedData: 'xyz' }],
    ['openai', { itemId: 'rs_1', reasoningEncryptedContent: 'enc' }],
    ['google', { thoughtSignature: 'sig' }],
  ])('restores signed reasoning for %s: %j', (provider, signed) => {
    const encryptedValue = JSON.stringify({ [provider]: signed });
    const messages = [
      user,
      { id: 'r', role: 'reasoning', content: 'Hm.', encryptedValue },
      assistant({ content: 'Hi' }),
    ];
    expect(fromAGUIMessages(messages, { provider: `${provider}.messages` })[1]).toMatchObject({
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'Hm.', providerOptions: { [provider]: signed } },
        { type: 'text', text: 'Hi' },
      ],
    });
  });

  it('restores the signature of a call', () => {
    const encryptedValue = JSON.stringify({ google: { thoughtSignature: 'sig' } });
    const answered = { id: 't', role: 'tool', toolCallId: 'c', content: 'done' };
    const messages = [user, assistant({ toolCalls: [call('c', { encryptedValue })] }), answered];
    expect(fromAGUIMessages(messages, { provider: 'google.generative-ai' })[1]).toMatchObject({
      content: [{ type: 'tool-call', toolCallId: 'c', providerOptions: { google: { thoughtSignature: 'sig' } } }],
    });
  });

  it('converts results that are parts, failures or JSON', () => {
    const calls = assistant({ toolCalls: [call('c1'), call('c2'), call('c3')] });
    const image = { type: 'image', source: { type: 'data', value: 'aGk=', mimeType: 'image/png' } };
    const results = [
      { id: 't1', role: 'tool', toolCallId: 'c1', content: [{ type: 'text', text: 'See' }, image] },
      { id: 't2', role: 'tool', toolCallId: 'c2', content: '', error: 'No.' },
      { id: 't3', role: 'tool', toolCallId: 'c3', content: '{"degrees":21}' },
    ];
    expect(fromAGUIMessages([user, calls, ...results])[2]).toMatchObject({
      role: 'tool',
      content: [
        { toolCallId: 'c1', output: { type: 'content', value: [{ type: 'text', text: 'See' }, {}] } },
        { toolCallId: 'c2', output: { type: 'error-text', value: 'No.' } },
        { toolCallId: 'c3', output: { type: 'json', value: { degrees: 21 } } },
      ],
    });
  });

  it.each([true, false])('converts the approval of a call: %s', (approved) => {
    const question = { questionId: 'q', kind: 'approval' as const, toolCallId: 'c' };
    const resume = [{ interruptId: encodeInterruptId(question), status: 'resolved' as const, payload: { approved } }];
    const messages = fromAGUIMessages([user, assistant({ toolCalls: [call('c')] })], { resume });
    expect(messages.at(-1)).toMatchObject({
      role: 'tool',
      content: [{ type: 'tool-approval-response', approvalId: 'q', approved }],
    });
  });

  it('never throws on arbitrary input', () => {
    const messages = [
      null,
      7,
      {},
      { role: 'user' },
      { role: 'tool', toolCallId: 'x' },
      { role: 'assistant', toolCalls: 1 },
    ];
    expect(() => fromAGUIMessages(messages as never)).not.toThrow();
  });
});
