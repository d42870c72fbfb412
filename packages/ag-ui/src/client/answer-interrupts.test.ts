import type { Answer, MessagePart } from '@intertie/core';
import { describe, expect, it } from 'vitest';
import { converse, type Turn } from '../../test/scripted-agent.ts';

const ask: Turn = { id: 'u1', text: 'Remove Paris.' };
const call: object[] = [
  { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'remove', parentMessageId: 'm1' },
  { type: 'TOOL_CALL_ARGS', toolCallId: 'c1', delta: '{}' },
  { type: 'TOOL_CALL_END', toolCallId: 'c1' },
];
const custom = (value: unknown, rawEvent?: object): object => ({
  type: 'CUSTOM',
  name: 'on_interrupt',
  value,
  ...(rawEvent && { rawEvent }),
});
const interrupted = (...interrupts: object[]): object => ({
  type: 'RUN_FINISHED',
  threadId: 'thread-1',
  runId: 'r',
  outcome: { type: 'interrupt', interrupts },
});
const suspended = JSON.stringify({
  type: 'mastra_suspend',
  toolCallId: 'c9',
  toolName: 'remove',
  suspendPayload: { message: 'Remove Paris?' },
  args: {},
  resumeSchema: '{"type":"object"}',
  runId: 'mastra-run',
});

/** Asks, answers the question, and returns the question and the second request. */
async function askAndAnswer(events: object[], answer: Omit<Answer, 'questionId'>) {
  const first = await converse([events], [ask]);
  const parts = first.messages.at(-1)?.content.parts ?? [];
  const questions = parts.flatMap(getQuestion);
  const answers = questions.map(({ questionId }) => ({ questionId, ...answer }));
  const { inputs, messages } = await converse([events, []], [ask, { answers }]);
  const { resume, forwardedProps } = inputs[1]!;
  return { questions, outcome: first.events[0]?.at(-1), resume, forwardedProps, message: messages.at(-1)! };
}

function getQuestion(part: MessagePart) {
  if (part.type === 'question') return [part];
  return part.type === 'tool-invocation' && part.approval ? [part.approval] : [];
}

describe('interrupts', () => {
  it.each<[string, object[], Omit<Answer, 'questionId'>, object, object]>([
    [
      'the outcome of AG-UI 1.0',
      [...call, interrupted({ id: 'i1', reason: 'tool_call', message: 'Sure?', toolCallId: 'c1' })],
      { approved: true },
      { kind: 'approval', message: 'Sure?', toolCallId: 'c1' },
      { resume: [{ interruptId: 'i1', status: 'resolved', payload: { approved: true } }] },
    ],
    [
      'the outcome of LangGraph, whose text is in the metadata',
      [
        ...call,
        custom('{"question": "Remove Paris?"}', { value: {}, id: 'i1' }),
        interrupted({
          id: 'i1',
          reason: 'langgraph:interrupt',
          metadata: { langgraph: { raw: { question: 'Remove Paris?' } } },
        }),
      ],
      { value: 'yes' },
      { kind: 'input', message: 'Remove Paris?' },
      { resume: [{ interruptId: 'i1', status: 'resolved', payload: 'yes' }] },
    ],
    [
      'the outcome of Mastra for a call that it does not show',
      [
        custom(suspended),
        interrupted({
          id: 'mastra-run::c9',
          reason: 'mastra:tool_suspend',
          toolCallId: 'c9',
          metadata: { mastra: { suspendPayload: { message: 'Remove Paris?' } } },
        }),
      ],
      { value: { approved: true } },
      { kind: 'input', message: 'Remove Paris?' },
      { resume: [{ interruptId: 'mastra-run::c9', status: 'resolved', payload: { approved: true } }] },
    ],
    [
      'LangGraph’s event with a text',
      [...call, custom('Remove Paris?', { value: 'Remove Paris?', id: 'i1' })],
      { value: 'yes' },
      { kind: 'input', questionId: 'i1', message: 'Remove Paris?' },
      { forwardedProps: { command: { resume: 'yes' } } },
    ],
    [
      'LangGraph’s event with JSON and no id',
      [...call, custom('{"prompt": "Which?", "choices": [1, 2]}')],
      { value: { choice: 1 } },
      { kind: 'input', message: 'Which?' },
      { forwardedProps: { command: { resume: { choice: 1 } } } },
    ],
    [
      'two interrupts of LangGraph',
      [...call, custom('One?', { id: 'i1' }), custom('Two?', { id: 'i2' })],
      { value: 'yes' },
      { questionId: 'i1', message: 'One?' },
      { forwardedProps: { command: { resume: { i1: 'yes', i2: 'yes' } } } },
    ],
    [
      'Mastra’s event',
      [custom(suspended)],
      { value: { approved: true } },
      { kind: 'input', message: 'Remove Paris?', schema: { type: 'object' } },
      { forwardedProps: { command: { resume: { approved: true }, interruptEvent: suspended } } },
    ],
    [
      'a cancelled question of Mastra',
      [custom(suspended)],
      { cancelled: true },
      { message: 'Remove Paris?' },
      { forwardedProps: { command: { resume: false, interruptEvent: suspended } } },
    ],
    [
      'a cancelled question of AG-UI 1.0',
      [interrupted({ id: 'i1', reason: 'confirm' })],
      { cancelled: true },
      { reason: 'confirm' },
      { resume: [{ interruptId: 'i1', status: 'cancelled' }] },
    ],
  ])('pause the run and are answered in their shape: %s', async (_, events, answer, question, sent) => {
    const { questions, outcome, resume, forwardedProps } = await askAndAnswer(events, answer);
    expect(questions[0]).toMatchObject(question);
    expect(outcome).toMatchObject({ type: 'run-end', outcome: 'paused', waitingFor: { length: questions.length } });
    expect({ ...(resume && { resume }), ...(forwardedProps && { forwardedProps }) }).toEqual(sent);
  });

  it('sends only the answers to the last run', async () => {
    const runs = [[custom('One?', { id: 'i1' })], [custom('Two?', { id: 'i2' })], []];
    const answer = (questionId: string): Turn => ({ answers: [{ questionId, value: questionId }] });
    const { inputs } = await converse(runs, [ask, answer('i1'), answer('i2')]);
    expect(inputs.map(({ forwardedProps }) => forwardedProps)).toEqual([
      undefined,
      { command: { resume: 'i1' } },
      { command: { resume: 'i2' } },
    ]);
  });

  it('show an interrupted call once that the agent streams again', async () => {
    const rest = [...call, { type: 'TOOL_CALL_RESULT', messageId: 't1', toolCallId: 'c1', content: 'Gone.' }];
    const answers = [{ questionId: 'i1', value: true }];
    const { messages } = await converse([[...call, custom('Sure?', { id: 'i1' })], rest], [ask, { answers }]);
    const calls = messages.at(-1)!.content.parts.filter(({ type }) => type === 'tool-invocation');
    expect(calls).toMatchObject([{ toolCallId: 'c1', state: 'result', result: 'Gone.' }]);
  });

  it('show the result of a suspended call that the agent has not streamed', async () => {
    const result = { type: 'TOOL_CALL_RESULT', messageId: 't1', toolCallId: 'c9', content: 'Gone.' };
    const answers = [{ questionId: 'mastra-run::c9', value: { approved: true } }];
    const { messages } = await converse([[custom(suspended)], [result]], [ask, { answers }]);
    const calls = messages.at(-1)!.content.parts.filter(({ type }) => type === 'tool-invocation');
    expect(calls).toMatchObject([{ toolCallId: 'c9', toolName: 'remove', state: 'result', result: 'Gone.' }]);
  });

  it('become data if the run fails', async () => {
    const { events } = await converse([[custom('Sure?'), { type: 'RUN_ERROR', message: 'No.' }]], [ask]);
    expect(events[0]).toContainEqual(expect.objectContaining({ type: 'data', name: 'on_interrupt', data: 'Sure?' }));
    expect(events[0]?.at(-1)).toMatchObject({ outcome: 'error' });
  });
});
