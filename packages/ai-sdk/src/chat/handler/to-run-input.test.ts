import type { Loss } from '@intertie/core';
import { describe, expect, test } from 'vitest';
import { ChatMemory } from './chat-memory.ts';
import { readChatRequest } from './chat-request.ts';
import { toRunInput } from './to-run-input.ts';

const losses: Loss[] = [];
function convert(body: object, memory: ChatMemory = new ChatMemory()) {
  let ids = 0;
  const generateId = (): string => `id-${(ids += 1)}`;
  const options = { memory, generateId, now: () => 1000, onLoss: (loss: Loss) => void losses.push(loss) };
  return toRunInput(readChatRequest({ id: 'thread', ...body }, { generateId }), options);
}

const user = (id: string): object => ({ id, role: 'user', parts: [{ type: 'text', text: id }] });
const assistant = (id: string, parts: object[] = [], intertie?: object): object => ({
  id,
  role: 'assistant',
  parts,
  ...(intertie && { metadata: { intertie, own: 1 } }),
});
const ids = ({ history }: { history: Array<{ id: string }> }): string => history.map(({ id }) => id).join();

describe('new assistant message', () => {
  test('starts a new answer to a new message', () => {
    const run = convert({ messages: [user('u1'), assistant('a1'), user('u2')], trigger: 'submit-message' });
    expect(run).toMatchObject({ runId: 'id-1', messageId: 'id-2', threadId: 'thread', parentMessageId: 'u2' });
    expect(ids(run)).toBe('u1,a1,u2');
    expect(run).not.toHaveProperty('message');
    expect(run).not.toHaveProperty('resumes');
  });

  test('cuts the history at the edited or regenerated message', () => {
    const messages = [user('u1'), assistant('a1'), user('u2'), assistant('a2')];
    expect(ids(convert({ messages, messageId: 'u1' }))).toBe('u1');
    expect(ids(convert({ messages, messageId: 'a1', trigger: 'regenerate-message' }))).toBe('u1');
    expect(ids(convert({ messages, messageId: 'u2', trigger: 'regenerate-message' }))).toBe('u1,a1,u2');
    expect(ids(convert({ messages: messages.slice(0, 3), trigger: 'regenerate-message' }))).toBe('u1,a1,u2');
    // The client has already removed the message to regenerate.
    const cut = convert({ messages: messages.slice(0, 2), messageId: 'a2', trigger: 'regenerate-message' });
    expect(cut).toMatchObject({ parentMessageId: 'a1', messageId: 'id-2' });
  });

  test('passes the state of the last run on', () => {
    const memory = new ChatMemory();
    const see = memory.watch('run-1');
    see({ type: 'state-snapshot', state: { a: 1 } });
    see({ type: 'state-delta', patch: [{ op: 'add', path: '/b', value: 2 }] });
    see({ type: 'state-delta', patch: [{ op: 'remove', path: '/nowhere' }] });
    see({ type: 'run-end', outcome: 'complete', resume: { task: 7 } });
    const messages = [user('u1'), assistant('a1', [], { runId: 'run-1' }), user('u2')];
    expect(convert({ messages }, memory)).toMatchObject({ sourceState: { task: 7 }, state: { a: 1, b: 2 } });
    expect(convert({ messages })).not.toHaveProperty('sourceState');
  });
});

describe('continued message', () => {
  const asked = { type: 'tool-rm', toolCallId: 'c', input: { n: 1 } };
  const approval = { id: 'q', approved: true, reason: 'yes' };

  test('extracts a new approval and starts from the message without it', () => {
    const parts = [
      { type: 'step-start' },
      { type: 'tool-old', toolCallId: 'o', state: 'output-available', input: {}, output: 1 },
      { ...asked, state: 'approval-responded', approval },
    ];
    const waitingFor = [{ type: 'question', questionId: 'q' }];
    const run = convert({ messages: [user('u1'), assistant('a1', parts, { runId: 'run-1', waitingFor })] });
    expect(run).toMatchObject({
      messageId: 'a1',
      parentMessageId: 'u1',
      resumes: 'run-1',
      answers: [{ questionId: 'q', approved: true, reason: 'yes' }],
      message: {
        metadata: { own: 1 },
        parts: [
          { toolCallId: 'o', state: 'result' },
          { toolCallId: 'c', state: 'call' },
        ],
      },
    });
    expect(run.message!.parts[1]).toHaveProperty('approval');
    expect(run.message!.parts[1]).not.toHaveProperty('approval.answer');
    expect(ids(run)).toBe('u1');
  });

  test('extracts results and errors of client tools', () => {
    const parts = [
      { type: 'step-start' },
      { ...asked, toolCallId: 'a', state: 'output-available', output: { x: 1 } },
      { ...asked, toolCallId: 'b', state: 'output-error', errorText: 'No.' },
      { ...asked, toolCallId: 'c', state: 'input-available' },
      { ...asked, toolCallId: 'd', state: 'output-available', output: 'the server’s' },
    ];
    const waitingFor = ['a', 'b', 'c'].map((toolCallId) => ({ type: 'tool', toolCallId }));
    const run = convert({ messages: [assistant('a1', parts, { runId: 'run-1', waitingFor })] });
    expect(run.answers).toEqual([
      { toolCallId: 'a', status: 'ok', output: { x: 1 } },
      { toolCallId: 'b', status: 'error', error: { message: 'No.' } },
    ]);
    expect(run.message!.parts).toMatchObject([
      { state: 'call' },
      { state: 'call' },
      { state: 'call' },
      { state: 'result', result: 'the server’s' },
    ]);
    expect(run).not.toHaveProperty('parentMessageId');
  });

  test('extracts the tool output that answers an approval', () => {
    const parts = [{ ...asked, state: 'output-available', output: 1, approval: { id: 'q' } }];
    const waitingFor = [{ type: 'question', questionId: 'q' }, { type: 'message' }, { type: 'tool' }, 7];
    const run = convert({ messages: [assistant('a1', parts, { waitingFor })] });
    expect(run.answers).toEqual([{ toolCallId: 'c', status: 'ok', output: 1 }]);
  });

  test('infers the answers of a message without our metadata from its last step', () => {
    const parts = [
      { type: 'step-start' },
      { ...asked, toolCallId: 'old', state: 'output-available', output: 1 },
      { type: 'step-start' },
      { ...asked, toolCallId: 'a', state: 'output-available', output: 2 },
      { ...asked, toolCallId: 'p', state: 'output-available', output: 3, providerExecuted: true },
      { ...asked, state: 'approval-responded', approval },
      { ...asked, toolCallId: 'd', state: 'output-denied', approval: { id: 'done', approved: false } },
    ];
    const run = convert({ messages: [user('u1'), assistant('a1', parts)] });
    expect(run).toMatchObject({
      resumes: 'a1',
      answers: [{ toolCallId: 'a', status: 'ok', output: 2 }, { questionId: 'q' }],
    });
  });

  test('continues a named message that is not the last', () => {
    const parts = [{ ...asked, state: 'approval-responded', approval }];
    const messages = [user('u1'), assistant('a1', parts), user('u2'), assistant('a2')];
    const run = convert({ messages, messageId: 'a1' });
    expect(run).toMatchObject({ messageId: 'a1', answers: [{ questionId: 'q' }] });
    expect(ids(run)).toBe('u1');
  });
});

test('evicts the oldest runs from memory', () => {
  const memory = new ChatMemory();
  for (let run = 0; run <= 1000; run += 1)
    memory.watch(`run-${run}`)({ type: 'run-end', outcome: 'complete', resume: run });
  expect(memory.recall('run-0')).toEqual({});
  expect(memory.recall('run-1000')).toEqual({ sourceState: 1000 });
  expect(memory.recall(undefined)).toEqual({});
});
