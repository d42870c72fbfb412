import { describe, expect, it } from 'vitest';
import { converse, sendOfficially, type Turn } from '../../test/scripted-agent.ts';

const text = (messageId: string, ...deltas: string[]): object[] => [
  { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' },
  ...deltas.map((delta) => ({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta })),
  { type: 'TEXT_MESSAGE_END', messageId },
];
const call = (toolCallId: string, parentMessageId?: string, delta = '{"city": "Paris"}'): object[] => [
  { type: 'TOOL_CALL_START', toolCallId, toolCallName: 'weather', ...(parentMessageId && { parentMessageId }) },
  { type: 'TOOL_CALL_ARGS', toolCallId, delta },
  { type: 'TOOL_CALL_END', toolCallId },
];
const result = (messageId: string, toolCallId: string, content = '{"degrees": 21}'): object => ({
  type: 'TOOL_CALL_RESULT',
  messageId,
  toolCallId,
  content,
});
const toolCall = (id: string, args = '{"city": "Paris"}'): object => ({
  id,
  type: 'function',
  function: { name: 'weather', arguments: args },
});
const snapshot = (...messages: object[]): object => ({ type: 'MESSAGES_SNAPSHOT', messages });
const user = (id: string): object => ({ id, role: 'user', content: 'Go.' });
const say = (id: string): Turn => ({ id, text: 'Go.' });

describe('the history that an agent gets back', () => {
  it.each<[string, object[][], Turn[]]>([
    [
      'a call with its parent and its result',
      [[...call('c1', 'lc_run--1'), result('r1', 'c1'), ...text('lc_run--2', 'It is ', '21.')]],
      [say('u1'), say('u2')],
    ],
    ['a call without a parent', [[...text('m1', 'Look.'), ...call('c1'), result('r1', 'c1')]], [say('u1'), say('u2')]],
    [
      'a text before a call in the same message',
      [[...text('m1', 'Look.'), ...call('c1', 'm1'), ...call('c2', 'm1'), result('r2', 'c2'), result('r1', 'c1')]],
      [say('u1'), say('u2')],
    ],
    [
      'a text that continues after its call',
      [[...text('m1', 'One. '), ...call('c1', 'm1'), result('r1', 'c1'), ...text('m1', 'Two.')]],
      [say('u1'), say('u2')],
    ],
    [
      'a result that comes after the next text',
      [[...call('c1', 'm1'), ...text('m2', 'Two.'), result('r1', 'c1')]],
      [say('u1'), say('u2')],
    ],
    [
      'arguments and results in any notation',
      [
        [
          ...call('c1', 'm1', '{ "city" :"Paris"}'),
          result('r1', 'c1', '{"a":1.0}'),
          ...call('c2', 'm2', ''),
          result('r2', 'c2', 'plain'),
          ...call('c3', 'm3', '{"n": ["\\u00e9, \\n: ", {}, []]}'),
          result('r3', 'c3', ''),
        ],
      ],
      [say('u1'), say('u2')],
    ],
    [
      'names and metadata',
      [
        [
          { type: 'TEXT_MESSAGE_START', messageId: 'm1', role: 'assistant', name: 'ann', metadata: { acme: 1 } },
          { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm1', delta: 'Hi.' },
          { type: 'TEXT_MESSAGE_END', messageId: 'm1', metadata: { more: true } },
        ],
      ],
      [say('u1'), say('u2')],
    ],
    [
      'reasoning',
      [
        [
          { type: 'REASONING_MESSAGE_START', messageId: 'r', role: 'reasoning' },
          { type: 'REASONING_MESSAGE_CONTENT', messageId: 'r', delta: 'Hm.' },
          { type: 'REASONING_MESSAGE_END', messageId: 'r' },
          { type: 'REASONING_ENCRYPTED_VALUE', subtype: 'message', entityId: 'r', encryptedValue: 'secret' },
          ...call('c1', 'm1'),
          result('r1', 'c1'),
        ],
      ],
      [say('u1'), say('u2')],
    ],
    [
      'a result of a client tool',
      [[...text('m1', 'Where?'), ...call('c1', 'm1', '{}')], text('m2', 'In Rome.')],
      [say('u1'), { answers: [{ toolCallId: 'c1', status: 'ok', output: 'Rome' }] }, say('u2')],
    ],
    [
      'reasoning before a client tool that a later snapshot omits',
      [
        [
          { type: 'REASONING_MESSAGE_START', messageId: 'r', role: 'reasoning' },
          { type: 'REASONING_MESSAGE_CONTENT', messageId: 'r', delta: 'Hm.' },
          { type: 'REASONING_MESSAGE_END', messageId: 'r' },
          ...call('c1', 'm1', '{}'),
        ],
        [
          ...text('m2', 'In Rome.'),
          snapshot(
            user('u1'),
            { id: 'm1', role: 'assistant', content: '', toolCalls: [toolCall('c1', '{}')] },
            { id: 'c1:result', role: 'tool', toolCallId: 'c1', content: 'Rome' },
            { id: 'm2', role: 'assistant', content: 'In Rome.' },
          ),
        ],
      ],
      [say('u1'), { answers: [{ toolCallId: 'c1', status: 'ok', output: 'Rome' }] }, say('u2')],
    ],
    [
      'snapshots that repeat the history (LangGraph)',
      [
        [
          ...call('c1', 'lc_run--1'),
          result('r1', 'c1'),
          ...text('lc_run--2', 'It is 21.'),
          snapshot(
            user('u1'),
            { id: 'lc_run--1', role: 'assistant', content: '', toolCalls: [toolCall('c1')] },
            { id: 'r1', role: 'tool', toolCallId: 'c1', content: '{"degrees": 21}' },
            { id: 'lc_run--2', role: 'assistant', content: 'It is 21.' },
          ),
        ],
        [
          ...call('c2', 'lc_run--3'),
          snapshot(
            user('u1'),
            { id: 'lc_run--1', role: 'assistant', content: '', toolCalls: [toolCall('c1')] },
            { id: 'r1', role: 'tool', toolCallId: 'c1', content: '{"degrees": 21}' },
            { id: 'lc_run--2', role: 'assistant', content: 'It is 21.' },
            user('u2'),
            { id: 'lc_run--3', role: 'assistant', content: '', toolCalls: [toolCall('c2')] },
          ),
          result('r2', 'c2'),
        ],
      ],
      [say('u1'), say('u2'), say('u3')],
    ],
    [
      'messages that every snapshot renames (LlamaIndex)',
      [
        [
          ...text('stream-1', 'Look. '),
          ...call('c1'),
          snapshot(user('u1'), { id: 'a1', role: 'assistant', content: 'Look.', toolCalls: [toolCall('c1')] }),
          snapshot(
            user('u1'),
            { id: 'a2', role: 'assistant', content: 'Look.', toolCalls: [toolCall('c1')] },
            { id: 't2', role: 'tool', toolCallId: 'c1', content: '{"degrees": 21}' },
          ),
          ...text('stream-2', 'It is 21.'),
          snapshot(
            user('u1'),
            { id: 'a3', role: 'assistant', content: 'Look.', toolCalls: [toolCall('c1')] },
            { id: 't3', role: 'tool', toolCallId: 'c1', content: '{"degrees": 21}' },
            { id: 'b3', role: 'assistant', content: 'It is 21.' },
          ),
        ],
      ],
      [say('u1'), say('u2')],
    ],
    [
      'a snapshot that replaces the answer',
      [
        [
          ...text('m1', 'A draft'),
          ...text('m2', 'Other'),
          snapshot(user('u1'), { id: 'm1', role: 'assistant', content: 'Final', name: 'ann' }),
        ],
      ],
      [say('u1'), say('u2')],
    ],
  ])('contains %s as the official client sends it', async (_, runs, turns) => {
    const { inputs } = await converse(runs, turns);
    expect(inputs.map(({ messages }) => messages)).toEqual(await sendOfficially(runs, turns));
  });

  it('shows a message once that a snapshot renames', async () => {
    const renamed = snapshot(user('u1'), { id: 'final', role: 'assistant', content: 'Hello.' });
    const { messages } = await converse([[...text('stream', 'Hel', 'lo.'), renamed]], [say('u1')]);
    expect(messages.at(-1)?.content.parts).toMatchObject([{ type: 'text', text: 'Hello.' }]);
  });

  it('does not show calls of earlier answers again when a snapshot repeats them under new ids', async () => {
    const old = { id: 'other', role: 'assistant', content: '', toolCalls: [toolCall('c1')] };
    const runs = [
      [...call('c1', 'm1'), result('r1', 'c1')],
      [...text('m2', 'Hi.'), snapshot(user('u2'), old, { id: 'm2', role: 'assistant', content: 'Hi.' })],
    ];
    const { messages, events } = await converse(runs, [say('u1'), say('u2')]);
    expect(messages.at(-1)?.content.parts).toMatchObject([{ type: 'text', text: 'Hi.' }]);
    expect(events[1]?.at(-1)).toMatchObject({ type: 'run-end', outcome: 'complete' });
  });
});
