import { check } from '@intertie/conformance';
import { arbitraryContinuation, arbitraryRun, type ArbitraryRun } from '@intertie/conformance/arbitraries';
import { foldEvents, seal, transcode, type CanonicalMessage } from '@intertie/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { finish, majors, scriptedModel, text as textChunks } from '../../test/scripted-model.ts';
import { modelMessageRules, type ModelMessageRule } from './model-message-rules.ts';
import { modelMessages } from './model-messages.ts';
import { toAiSdkMessages } from './to-ai-sdk-messages.ts';

const user = { role: 'user', content: 'hi' };
const call = (id = 'c', more: object = {}): object => ({
  type: 'tool-call',
  toolCallId: id,
  toolName: 'weather',
  input: {},
  ...more,
});
const result = (id = 'c'): object => ({
  type: 'tool-result',
  toolCallId: id,
  toolName: 'weather',
  output: { type: 'text', value: 'sun' },
});
const assistant = (...content: object[]): object => ({ role: 'assistant', content });
const tool = (...content: object[]): object => ({ role: 'tool', content });
const broken = (messages: unknown[]): string[] => check(modelMessages, messages).violations.map(({ rule }) => rule);

test('reports no violation for a valid history', () => {
  expect(
    broken([
      { role: 'system', content: 'Be brief.' },
      user,
      assistant({ type: 'reasoning', text: 'hm' }, { type: 'text', text: 'Looking.' }, call('a'), call('b')),
      tool(result('a'), result('b')),
      assistant(call('p', { providerExecuted: true }), result('p'), { type: 'text', text: 'Sun.' }),
      { role: 'user', content: [{ type: 'file', mediaType: 'image/png', data: new URL('https://example.com/a.png') }] },
      assistant(call('x'), { type: 'tool-approval-request', approvalId: 'q', toolCallId: 'x' }),
      tool({ type: 'tool-approval-response', approvalId: 'q', approved: true }),
    ]),
  ).toEqual([]);
});

test.each<[ModelMessageRule, unknown[]]>([
  ['M0-shape', [user, 7]],
  ['M0-shape', [user, { role: 'user', parts: [] }]],
  ['M0-shape', [{ role: 'user', content: [call()] }]],
  ['M1-system', [user, { role: 'system', content: 'Now be long.' }]],
  ['M2-first', [assistant({ type: 'text', text: 'Hello' }), user]],
  ['M2-last', [user, assistant({ type: 'text', text: 'Hello' })]],
  ['M3-empty', [user, assistant(), user]],
  ['M3-empty', [{ role: 'user', content: [{ type: 'text', text: ' ' }] }]],
  ['M4-id', [user, assistant(call('run:1')), tool(result('run:1'))]],
  ['M4-id', [user, assistant(call('a')), tool(result('a')), assistant(call('a')), user]],
  ['M4-name', [user, assistant(call('a', { toolName: 'my tool' })), tool(result('a'))]],
  ['M4-input', [user, assistant(call('a', { input: '{}' })), tool(result('a'))]],
  ['M5-answered', [user, assistant(call()), user]],
  ['M5-answered', [user, assistant(call('a'), call('b')), tool(result('a'))]],
  ['M5-next', [user, assistant(call()), assistant({ type: 'text', text: 'So.' }), tool(result())]],
  ['M5-orphan', [user, tool(result())]],
  ['M5-orphan', [user, assistant(call()), tool(result(), result())]],
  ['M6-reasoning', [user, assistant({ type: 'reasoning', text: 'hm' }), user]],
  ['M7-approval', [user, tool({ type: 'tool-approval-response', approvalId: 'q', approved: true })]],
  ['M8-file', [{ role: 'user', content: [{ type: 'file', mediaType: 'image/png', data: '/a.png' }] }]],
  ['M8-file', [{ role: 'user', content: [{ type: 'file', data: 'aGk=' }] }]],
])('reports a violation of %s', (rule, messages) => {
  expect(broken(messages)).toContain(rule);
});

test('has a test case, a sentence and a fix for every rule', () => {
  for (const { sentence, fix } of modelMessageRules) {
    expect(sentence).toMatch(/\.$/);
    expect(fix).toMatch(/\.$/);
  }
});

test('detects model messages', () => {
  expect(modelMessages.looksLike(user)).toBe(true);
  expect(modelMessages.looksLike({ id: 'u', role: 'user', parts: [] })).toBe(false);
  expect(check(modelMessages, [user, 7]).counts).toEqual({ user: 1, 'no message': 1 });
});

const sealed = ({ run, events, end }: ArbitraryRun): CanonicalMessage =>
  foldEvents(
    transcode(
      seal(run, () => undefined),
      events,
      end,
    ),
  )!;
const folded = fc.oneof(
  arbitraryRun().map(sealed),
  arbitraryContinuation().map(({ continued }) => sealed(continued)),
);
const userMessage = (id: string): CanonicalMessage => ({
  id,
  threadId: 'thread-1',
  role: 'user',
  type: 'text',
  content: { format: 2, parts: [{ type: 'text', text: 'hi' }] },
  createdAt: new Date(0),
});

test('produces valid messages for any run and provider', () => {
  fc.assert(
    fc.property(folded, fc.constantFrom(undefined, 'maker.chat', 'anthropic.messages'), (message, provider) => {
      const options = { includeInternal: true, ...(provider !== undefined && { provider }) };
      const messages = toAiSdkMessages([userMessage('u1'), message, userMessage('u2')], options);
      expect(check(modelMessages, messages).violations).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

describe.each(majors)('$name', ({ ai }) => {
  test.each([
    ['M5-answered', [user, assistant(call()), user]],
    ['M7-approval', [user, tool({ type: 'tool-approval-response', approvalId: 'q', approved: true })]],
  ])('rejects messages that violate %s', async (rule, messages) => {
    expect(broken(messages)).toContain(rule);
    const errors: unknown[] = [];
    const model = scriptedModel([...textChunks('0', 'ok'), finish()]);
    const stream = ai.streamText({
      model,
      messages: messages as never,
      onError: ({ error }) => void errors.push(error),
    });
    await stream.consumeStream();
    expect(errors).toHaveLength(1);
  });
});
