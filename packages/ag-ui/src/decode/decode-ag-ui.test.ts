import type { AgentEvent } from '@intertie/core';
import { describe, expect, it } from 'vitest';
import { decode, finished, run, started } from '../../test/decode-events.ts';
import { createAGUIDecoder } from './decode-ag-ui.ts';

describe('createAGUIDecoder', () => {
  it.each<[string, object[], object[]]>([
    [
      'chunks with the id on the first only',
      [
        { type: 'TEXT_MESSAGE_CHUNK', messageId: 'a', delta: 'Hel' },
        { type: 'TEXT_MESSAGE_CHUNK', delta: 'lo' },
        { type: 'TEXT_MESSAGE_CHUNK', messageId: 'b', delta: '!' },
      ],
      [
        { type: 'text', id: 'a', text: 'Hello' },
        { type: 'text', id: 'b', text: '!' },
      ],
    ],
    [
      'thinking events of old versions',
      [
        { type: 'THINKING_START', title: 'Hm' },
        { type: 'THINKING_TEXT_MESSAGE_START' },
        { type: 'THINKING_TEXT_MESSAGE_CONTENT', delta: 'one' },
        { type: 'THINKING_TEXT_MESSAGE_END' },
        { type: 'THINKING_END' },
      ],
      [{ type: 'reasoning', id: 'thinking-1', reasoning: 'one' }],
    ],
    [
      'a result before the end of its call',
      [
        { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'search' },
        { type: 'TOOL_CALL_RESULT', messageId: 'x', toolCallId: 'c', content: '{"found":1}' },
        { type: 'TOOL_CALL_ARGS', toolCallId: 'c', delta: '{}' },
        { type: 'TOOL_CALL_END', toolCallId: 'c' },
      ],
      [{ type: 'tool-invocation', toolCallId: 'c', state: 'result', args: {}, result: { found: 1 } }],
    ],
    [
      'an interjection and a patched activity',
      [
        { type: 'TEXT_MESSAGE_START', messageId: 'u', role: 'user' },
        { type: 'TEXT_MESSAGE_CONTENT', messageId: 'u', delta: 'Faster' },
        { type: 'TEXT_MESSAGE_END', messageId: 'u' },
        { type: 'ACTIVITY_SNAPSHOT', messageId: 'p', activityType: 'PLAN', content: { steps: [] } },
        {
          type: 'ACTIVITY_DELTA',
          messageId: 'p',
          activityType: 'PLAN',
          patch: [{ op: 'add', path: '/steps/-', value: 1 }],
        },
      ],
      [
        { type: 'interjection', role: 'user', parts: [{ type: 'text', text: 'Faster' }] },
        { type: 'data', id: 'p', name: 'PLAN', data: { steps: [1] } },
      ],
    ],
    [
      'an encrypted value after the end of its text',
      [
        { type: 'REASONING_MESSAGE_START', messageId: 'x', role: 'reasoning' },
        { type: 'REASONING_MESSAGE_END', messageId: 'x' },
        { type: 'REASONING_ENCRYPTED_VALUE', subtype: 'message', entityId: 'x', encryptedValue: 'secret' },
      ],
      [{ type: 'reasoning', id: 'x', providerMetadata: { 'ag-ui': { encryptedValue: 'secret' } } }],
    ],
    [
      'messages that are only in a snapshot',
      [
        {
          type: 'MESSAGES_SNAPSHOT',
          messages: [
            { id: 'old', role: 'user', content: 'Go.' },
            { id: 'new', role: 'assistant', content: 'Done.' },
          ],
        },
      ],
      [{ type: 'text', id: 'new', text: 'Done.' }],
    ],
    [
      'a snapshot that corrects and removes streamed content',
      [
        { type: 'TEXT_MESSAGE_CHUNK', messageId: 'a', delta: 'A drfat' },
        { type: 'TEXT_MESSAGE_CHUNK', messageId: 'b', delta: 'Another' },
        { type: 'REASONING_MESSAGE_CHUNK', messageId: 'r', delta: 'Hm.' },
        {
          type: 'MESSAGES_SNAPSHOT',
          messages: [
            { id: 'old', role: 'user', content: 'Go.' },
            { id: 'a', role: 'assistant', content: 'A draft' },
            { id: 'c', role: 'assistant', content: 'The last.' },
          ],
        },
      ],
      [
        { type: 'text', id: 'a', text: 'A draft' },
        { type: 'reasoning', id: 'r', reasoning: 'Hm.' },
        { type: 'text', id: 'c', text: 'The last.' },
      ],
    ],
    [
      'a contradicting snapshot during a text, which is ignored',
      [
        { type: 'TEXT_MESSAGE_START', messageId: 'a' },
        { type: 'TEXT_MESSAGE_CONTENT', messageId: 'a', delta: 'One' },
        { type: 'MESSAGES_SNAPSHOT', messages: [] },
        { type: 'TEXT_MESSAGE_CONTENT', messageId: 'a', delta: ' two' },
        { type: 'TEXT_MESSAGE_END', messageId: 'a' },
      ],
      [{ type: 'text', id: 'a', text: 'One two' }],
    ],
    [
      'results of streamed calls that are only in a snapshot',
      [
        { type: 'TOOL_CALL_CHUNK', toolCallId: 'c', toolCallName: 'search', delta: '{}' },
        { type: 'TOOL_CALL_CHUNK', toolCallId: 'd', toolCallName: 'search', delta: '{}' },
        {
          type: 'MESSAGES_SNAPSHOT',
          messages: [
            { id: 'x', role: 'tool', toolCallId: 'c', content: 'Found.', encryptedValue: 'secret' },
            { id: 'y', role: 'tool', toolCallId: 'd', content: '', error: 'Nothing there.' },
          ],
        },
        { type: 'TOOL_CALL_RESULT', messageId: 'z', toolCallId: 'c', content: 'Once more.' },
      ],
      [
        { toolCallId: 'c', result: 'Found.', resultMetadata: { 'ag-ui': { encryptedValue: 'secret' } } },
        { toolCallId: 'd', state: 'error', error: { message: 'Nothing there.' } },
      ],
    ],
    [
      'an encrypted value directly after its result',
      [
        { type: 'TOOL_CALL_CHUNK', toolCallId: 'c', toolCallName: 'search', delta: '{}' },
        { type: 'TOOL_CALL_RESULT', messageId: 'x', toolCallId: 'c', content: 'Found.' },
        { type: 'REASONING_ENCRYPTED_VALUE', subtype: 'message', entityId: 'x', encryptedValue: 'secret' },
      ],
      [{ toolCallId: 'c', result: 'Found.', resultMetadata: { 'ag-ui': { encryptedValue: 'secret' } } }],
    ],
    [
      'an encrypted value of a result that is held until the end of its call',
      [
        { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'search' },
        { type: 'TOOL_CALL_RESULT', messageId: 'x', toolCallId: 'c', content: 'Found.' },
        { type: 'REASONING_ENCRYPTED_VALUE', subtype: 'message', entityId: 'x', encryptedValue: 'secret' },
        { type: 'TOOL_CALL_END', toolCallId: 'c' },
      ],
      [{ toolCallId: 'c', result: 'Found.', resultMetadata: { 'ag-ui': { encryptedValue: 'secret' } } }],
    ],
  ])('decodes %s', (_, events, parts) => {
    expect(decode([...events, finished], ['old']).parts).toMatchObject(parts);
  });

  it('decodes the outcome: pending tool, question, cancelled, failed, or truncated', () => {
    const call = [
      { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'locate' },
      { type: 'TOOL_CALL_END', toolCallId: 'c' },
    ];
    const ended = (...events: object[]): unknown => decode(events).events.at(-1);
    expect(ended(...call, finished)).toMatchObject({
      outcome: 'paused',
      waitingFor: [{ type: 'tool', toolCallId: 'c' }],
    });
    const interrupts = [{ id: 'i1', reason: 'input_required', message: 'How many?' }];
    expect(ended({ ...finished, outcome: { type: 'interrupt', interrupts } })).toMatchObject({
      waitingFor: [{ type: 'question', questionId: 'i1' }],
    });
    expect(ended({ ...finished, outcome: { type: 'cancelled' } })).toMatchObject({ outcome: 'aborted' });
    expect(ended({ type: 'RUN_ERROR', message: 'No.', code: 'E' })).toMatchObject({
      error: { message: 'No.', code: 'E' },
    });
    expect(ended()).toMatchObject({ outcome: 'error', error: { code: 'truncated' } });
  });

  it('emits a held result on flush', () => {
    const decoder = createAGUIDecoder(run);
    const emitted: string[] = [];
    const emit = ({ type }: AgentEvent): void => void emitted.push(type);
    decoder.feed({ type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'search' }, emit);
    decoder.feed({ type: 'TOOL_CALL_END', toolCallId: 'c' }, emit);
    decoder.feed({ type: 'TOOL_CALL_RESULT', messageId: 'x', toolCallId: 'c', content: '' }, emit);
    expect(emitted.at(-1)).toBe('tool-call');
    decoder.flush?.(emit);
    expect(emitted.at(-1)).toBe('tool-result');
  });

  it('records the origin of a held result if requested', () => {
    const decoder = createAGUIDecoder(run, { origins: true });
    const emitted: AgentEvent[] = [];
    for (const event of [
      started,
      { type: 'TOOL_CALL_CHUNK', toolCallId: 'c', toolCallName: 'search', delta: '{}' },
      { type: 'TOOL_CALL_RESULT', messageId: 'x', toolCallId: 'c', content: '' },
      { type: 'REASONING_START', messageId: 'r' },
      { type: 'CUSTOM', name: 'acme.note', value: 1 },
    ])
      decoder.feed(event, (out) => void emitted.push(out));
    expect(emitted.slice(-2)).toMatchObject([{ type: 'tool-result', origin: 2 }, { type: 'data' }]);
  });

  it('reports an encrypted value of a result that was already emitted', () => {
    const { events, parts, losses } = decode([
      { type: 'TOOL_CALL_CHUNK', toolCallId: 'c', toolCallName: 'search', delta: '{}' },
      { type: 'TOOL_CALL_RESULT', messageId: 'x', toolCallId: 'c', content: 'Found.' },
      { type: 'CUSTOM', name: 'acme.note', value: 1 },
      { type: 'REASONING_ENCRYPTED_VALUE', subtype: 'message', entityId: 'x', encryptedValue: 'secret' },
      finished,
    ]);
    expect(losses).toMatchObject([{ kind: 'unsupported', what: 'REASONING_ENCRYPTED_VALUE', id: 'c' }]);
    expect(events.filter(({ type }) => type === 'raw' || type === 'notice')).toEqual([]);
    expect(JSON.stringify(parts)).not.toContain('secret');
  });

  it('announces an unannounced sub-agent and ignores events after the end', () => {
    const { events, losses } = decode([
      { type: 'TEXT_MESSAGE_CHUNK', messageId: 'a', delta: 'Hi', subagentRunId: 's1' },
      finished,
      started,
    ]);
    expect(events.find(({ type }) => type === 'agent-start')).toMatchObject({ agentId: 's1', kind: 'agent' });
    expect(losses).toMatchObject([{ kind: 'late', what: 'RUN_STARTED' }]);
  });

  it('reports earlier answers of a snapshot that the thread lacks', () => {
    const messages = [
      { id: 'u1', role: 'user', content: 'Go.' },
      { id: 'a1', role: 'assistant', content: 'An old answer.' },
      { id: 'u2', role: 'user', content: 'Again.' },
      { id: 'a2', role: 'assistant', content: 'New.' },
    ];
    const { parts, losses } = decode([{ type: 'MESSAGES_SNAPSHOT', messages }, finished], ['u1', 'u2']);
    expect(parts).toMatchObject([{ type: 'text', id: 'a2', text: 'New.' }]);
    expect(losses).toMatchObject([{ kind: 'withheld', what: 'MESSAGES_SNAPSHOT', id: 'a1' }]);
  });
});
