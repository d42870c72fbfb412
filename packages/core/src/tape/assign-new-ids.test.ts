import { describe, expect, it } from 'vitest';
import { runInput } from '../../test/run-input.ts';
import { transcode } from '../codec/codec.ts';
import type { AgentEvent } from '../event/event.ts';
import type { MessageContent } from '../event/message.ts';
import { assignNewIds } from './assign-new-ids.ts';

const play = (events: unknown[], given: Parameters<typeof runInput>[0] = {}): AgentEvent[] =>
  transcode(
    assignNewIds(runInput({ runId: 'r', ...given }), () => {}),
    events,
  );

const baseline: MessageContent = {
  format: 2,
  parts: [
    { type: 'text', id: 'x:0', text: 'Hi', agentId: 'a', stepId: 's' },
    {
      type: 'tool-invocation',
      id: 'call',
      toolCallId: 'call',
      toolName: 'buy',
      state: 'call',
      args: { toolCallId: 'call' },
      approval: { questionId: 'q', kind: 'approval', toolCallId: 'call', answer: { questionId: 'q', approved: true } },
    },
    { type: 'interjection', id: 'x:1', role: 'user', parts: [{ type: 'text', id: 'x:2', text: 'Wait' }] },
  ],
  agents: {
    a: { name: 'Ada', kind: 'agent' },
    b: { name: 'Bob', kind: 'agent', parentAgentId: 'a', toolCallId: 'call' },
  },
  steps: { s: { agentId: 'a' } },
  runs: [{ runId: 'x', outcome: 'paused', waitingFor: [{ type: 'tool', toolCallId: 'call' }] }],
};

describe('assignNewIds', () => {
  it('drops run-start and replaces equal ids by equal new ones', () => {
    const events = play([
      { type: 'run-start', runId: 'x', threadId: 't', messageId: 'm' },
      { type: 'data', id: 'd', name: 'chart', data: { id: 'd' } },
      { type: 'data', id: 'd', name: 'chart', data: { id: 'd' } },
      { type: 'metadata', id: 'd', providerMetadata: { openai: { id: 'd' } } },
      { type: 'notice', level: 'info', message: 'x', toolCallId: 'call' },
    ]);
    expect(events).toEqual([
      { type: 'data', id: 'r:0', name: 'chart', data: { id: 'd' } },
      { type: 'data', id: 'r:0', name: 'chart', data: { id: 'd' } },
      { type: 'metadata', id: 'r:0', providerMetadata: { openai: { id: 'd' } } },
      { type: 'notice', level: 'info', message: 'x', toolCallId: 'r:1' },
    ]);
  });

  it('replaces the ids inside a message, but not those in user data', () => {
    const [snapshot, result] = play([
      { type: 'message-snapshot', content: baseline },
      { type: 'tool-result', toolCallId: 'call', status: 'ok', output: 'call' },
    ]);
    const text = JSON.stringify(snapshot);
    expect(text).not.toMatch(/"(x|x:\d|q|a|b|s)"/);
    expect(snapshot).toMatchObject({
      content: {
        parts: [
          { id: 'r:0', agentId: 'r:1', stepId: 'r:2' },
          {
            id: 'r:3',
            toolCallId: 'r:3',
            args: { toolCallId: 'call' },
            approval: { questionId: 'r:4', toolCallId: 'r:3' },
          },
          { id: 'r:5', parts: [{ id: 'r:6' }] },
        ],
        agents: { 'r:1': { name: 'Ada' }, 'r:7': { name: 'Bob', parentAgentId: 'r:1', toolCallId: 'r:3' } },
        steps: { 'r:2': { agentId: 'r:1' } },
        runs: [{ runId: 'r:8', waitingFor: [{ toolCallId: 'r:3' }] }],
      },
    });
    expect(result).toEqual({ type: 'tool-result', toolCallId: 'r:3', status: 'ok', output: 'call' });
  });

  it('prepends the continued message to a snapshot', () => {
    const message: MessageContent = {
      format: 2,
      parts: [{ type: 'text', id: 'before', text: 'Before' }],
      metadata: { a: 1 },
    };
    const [snapshot] = play([{ type: 'message-snapshot', content: baseline }], { message });
    expect(snapshot).toMatchObject({ content: { parts: [{ id: 'before' }, {}, {}, {}], metadata: { a: 1 } } });
  });

  it('shifts the times to the start of the run, and drops the origin', () => {
    const events = play(
      [
        { type: 'run-start', runId: 'x', threadId: 't', messageId: 'm', at: 100 },
        { type: 'text-start', id: 'a', at: 130, origin: 4 },
        { type: 'text-delta', id: 'a', delta: 'x', origin: 5 },
        { type: 'text-end', id: 'a', at: 150 },
      ],
      { startedAt: 1000 },
    );
    expect(events.map(({ at, origin }) => [at, origin])).toEqual([
      [1030, undefined],
      [undefined, undefined],
      [1050, undefined],
    ]);
  });

  it('converts unknown and malformed events to raw, the latter with a notice', () => {
    expect(play([{ type: 'from-the-future', id: 'x' }])).toEqual([
      { type: 'raw', dialect: 'canonical', value: { type: 'from-the-future', id: 'x' } },
    ]);
    expect(play([{ type: 'text-delta', id: 'x' }, 7])).toMatchObject([
      { type: 'raw' },
      { type: 'notice', message: expect.stringContaining('delta of "text-delta"') },
      { type: 'raw', value: 7 },
      { type: 'notice' },
    ]);
  });
});
