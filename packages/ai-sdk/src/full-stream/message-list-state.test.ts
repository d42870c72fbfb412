import type { CanonicalMessage } from '@intertie/core';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { call, finish, majors, scriptedModel, text } from '../../test/scripted-model.ts';
import {
  createMessageListState,
  endMessageListState,
  flushToCanonical,
  updateFromStreamPart,
  type MessageListState,
} from './message-list-state.ts';
import { toAiSdkMessages } from '../messages/to-ai-sdk-messages.ts';

async function save(stream: AsyncIterable<unknown>, state: MessageListState): Promise<CanonicalMessage[]> {
  const saved: CanonicalMessage[] = [];
  for await (const part of stream) {
    updateFromStreamPart(part, state);
    const message = flushToCanonical(state);
    if (message) saved.push(message);
  }
  return saved;
}

describe.each(majors)('$name', ({ ai }) => {
  const tools = {
    add: ai.tool({ inputSchema: z.object({ a: z.number() }), execute: async ({ a }) => a + 1 }),
    risky: ai.tool({ inputSchema: z.object({}), needsApproval: true, execute: async () => 'done' }),
  };

  test('flushes the message after tool results and at the end, under one id', async () => {
    const model = scriptedModel([call('c', 'add', { a: 1 }), finish('tool-calls')], [...text('0', 'Two.'), finish()]);
    const state = createMessageListState({ threadId: 't', tools, now: () => 5 });
    const result = ai.streamText({ model, prompt: 'hi', tools, stopWhen: ai.stepCountIs(2) });
    const saved = await save(result.fullStream, state);
    expect(new Set(saved.map(({ id }) => id))).toEqual(new Set([state.messageId]));
    expect(saved.map(({ status, content }) => [status, content.parts.length])).toEqual([
      ['streaming', 1],
      ['complete', 2],
    ]);
    expect(saved.at(-1)).toMatchObject({
      threadId: 't',
      role: 'assistant',
      createdAt: new Date(5),
      content: {
        parts: [
          { toolCallId: 'c', state: 'result', result: 2 },
          { type: 'text', text: 'Two.' },
        ],
      },
    });
    expect(flushToCanonical(state)).toBeNull();
  });

  test('continues a paused message under its id after an approval', async () => {
    const first = createMessageListState({ threadId: 't', tools });
    const model = scriptedModel([call('c', 'risky'), finish('tool-calls')]);
    const [paused] = await save(ai.streamText({ model, prompt: 'hi', tools }).fullStream, first);
    expect(paused).toMatchObject({ status: 'paused' });
    const part = paused!.content.parts[0]!;
    const approval = part.type === 'tool-invocation' ? part.approval! : undefined;
    const answered: CanonicalMessage = {
      ...paused!,
      content: {
        ...paused!.content,
        parts: [
          { ...part, approval: { ...approval, answer: { questionId: approval!.questionId, approved: true } } } as never,
        ],
      },
    };
    const state = createMessageListState({ threadId: 't', tools, continues: answered });
    const result = ai.streamText({
      model: scriptedModel([...text('0', 'Did it.'), finish()]),
      messages: [{ role: 'user', content: 'hi' }, ...toAiSdkMessages([answered], { continues: answered.id })],
      tools,
    });
    const saved = await save(result.fullStream, state);
    expect(saved.at(-1)).toMatchObject({
      id: paused!.id,
      status: 'complete',
      content: { parts: [{ state: 'result', result: 'done' }, { text: 'Did it.' }], runs: [{}, {}] },
    });
  });

  test('keeps the content of a stream that fails', async () => {
    const model = scriptedModel([
      ...text('0', 'so far'),
      { type: 'error', error: new Error('broke') },
      finish('error'),
    ]);
    const state = createMessageListState({ threadId: 't' });
    const result = ai.streamText({ model, prompt: 'hi', onError: () => undefined });
    const saved = await save(result.fullStream, state);
    expect(saved.at(-1)).toMatchObject({ status: 'error', content: { parts: [{ text: 'so far' }] } });
  });
});

test('closes a message whose stream stopped with endMessageListState', () => {
  const state = createMessageListState({ threadId: 't', messageId: 'm', runId: 'r', generateId: () => 'never' });
  updateFromStreamPart({ type: 'text-start', id: '0' }, state);
  updateFromStreamPart({ type: 'text-delta', id: '0', text: 'half' }, state);
  expect(flushToCanonical(state)).toBeNull();
  endMessageListState(state, { reason: 'aborted', by: 'user' });
  expect(flushToCanonical(state)).toMatchObject({
    id: 'm',
    runId: 'r',
    status: 'aborted',
    content: { parts: [{ text: 'half' }] },
  });
});

test('assigns ids that the branch does not use', () => {
  const before = createMessageListState({ threadId: 't', runId: 'r' });
  const part = { type: 'tool-call', toolCallId: '0', toolName: 'x', input: {} };
  updateFromStreamPart(part, before);
  endMessageListState(before);
  const earlier = flushToCanonical(before)!;
  const state = createMessageListState({ threadId: 't', runId: 'r2', messages: [earlier] });
  updateFromStreamPart(part, state);
  endMessageListState(state);
  expect(flushToCanonical(state)).toMatchObject({ parentId: earlier.id, content: { parts: [{ toolCallId: 'r2:0' }] } });
});

test('rejects an object that is not a state with a clear error', () => {
  expect(() => flushToCanonical({ threadId: 't', messageId: 'm', runId: 'r' })).toThrow('createMessageListState()');
});
