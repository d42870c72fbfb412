import type { AgentEvent, EventOf, MessageContent } from '@intertie/core';
import { describe, expect, test } from 'vitest';
import { parseRunCursor, type RunCursor } from '../run-cursor.ts';
import { getEncoderId, RunFrameEncoder, type RunFrameEncoderOptions } from './run-frame-encoder.ts';

const start: EventOf<'run-start'> = { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm' };
const complete: AgentEvent = { type: 'run-end', outcome: 'complete', finishReason: 'stop' };
const textEvents = (id: string, ...deltas: string[]): AgentEvent[] => [
  { type: 'text-start', id },
  ...deltas.map((delta): AgentEvent => ({ type: 'text-delta', id, delta })),
  { type: 'text-end', id },
];
const ask = (questionId: string): AgentEvent => ({ type: 'question', questionId, kind: 'input', message: 'Which?' });
const answer = (questionId: string): AgentEvent => ({ type: 'answer', questionId, value: 'this' });
const options: RunFrameEncoderOptions = { baseline: 'restate', errorText: ({ message }) => message };

function write(events: readonly AgentEvent[], more: Partial<RunFrameEncoderOptions> = {}, epoch = 1): string[] {
  const encoder = new RunFrameEncoder({ ...options, ...more });
  for (const [index, event] of events.entries()) encoder.feed(event, { epoch, seq: index + 1 });
  return encoder.flush().split('\n\n').filter(Boolean);
}

const parseChunk = (frame: string): { type: string; [key: string]: unknown } =>
  JSON.parse(frame.slice(frame.indexOf('data: ') + 6)) as { type: string };
const getTypes = (frames: readonly string[]): string => frames.map((frame) => parseChunk(frame).type).join(' ');
const getCursor = (frame: string): RunCursor => parseRunCursor(/^id: (.*)$/m.exec(frame)![1]!)!;

const baseline: MessageContent = {
  format: 2,
  parts: [
    { type: 'text', id: 'before', text: 'Before.' },
    { type: 'tool-invocation', toolCallId: 'c', toolName: 'ask', state: 'result', args: {}, result: 1 },
  ],
};
const rich: AgentEvent[] = [
  { ...start, resumes: 'r0' },
  { type: 'message-snapshot', content: baseline },
  { type: 'agent-start', agentId: 'a', name: 'Ada', kind: 'agent' },
  ...textEvents('one', 'Hel', 'lo'),
  { type: 'tool-call', toolCallId: 'd', toolName: 'add', input: { a: 1 } },
  { type: 'tool-result', toolCallId: 'd', status: 'ok', output: 2 },
  ...textEvents('two', 'Bye'),
  complete,
];

describe('RunFrameEncoder', () => {
  test.each(['assume', 'restate'] as const)('resumes after every cursor (%s)', (mode) => {
    const all = write(rich, { baseline: mode });
    expect(all.length).toBeGreaterThan(12);
    for (const [index, frame] of all.entries()) {
      const after = getCursor(frame);
      expect(after.encoder).toBe(getEncoderId({ ...options, baseline: mode }));
      expect(write(rich, { baseline: mode, after })).toEqual(all.slice(index + 1));
    }
  });

  test('restates the continued message only to a reader without it', () => {
    expect(getTypes(write(rich, { baseline: 'restate' }))).toContain('tool-output-available');
    expect(write(rich, { baseline: 'restate' }).join('\n')).toContain('Before.');
    expect(write(rich, { baseline: 'assume' }).join('\n')).not.toContain('Before.');
  });

  test('gives different ids to other options and starting points', () => {
    const names = [
      getEncoderId(options),
      getEncoderId({ ...options, baseline: 'assume' }),
      getEncoderId({ ...options, version: 7 }),
      getEncoderId({ ...options, sendReasoning: false }),
      getEncoderId({ ...options, staticTools: ['a@1~2'] }),
      getEncoderId({ ...options, from: 3 }),
    ];
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(parseRunCursor(`${name}~1.2.3`)?.encoder).toBe(name);
  });

  test('rejects invalid cursors', () => {
    for (const text of ['', '1.2.3', 'ui~1.2', 'ui~-1.2.3', 'ui~1.2.x', `ui~1.2.${'9'.repeat(400)}`, 'a\nb~1.2.3']) {
      expect(parseRunCursor(text)).toBeUndefined();
    }
  });

  test('sends the public text of an error', () => {
    const failed: AgentEvent = { type: 'run-end', outcome: 'error', error: { message: 'secret', data: 'stack' } };
    const frames = write([start, failed], { errorText: () => 'Sorry.' });
    expect(parseChunk(frames.at(-1)!)).toEqual({ type: 'error', errorText: 'Sorry.' });
    expect(frames.join('\n')).not.toMatch(/secret|stack/);
  });
});

describe('run that waits inside its process', () => {
  const log = [start, ...textEvents('one', 'Hi'), ask('q'), answer('q'), ...textEvents('two', 'Bye'), ask('p')];

  /** Encodes events after which the run waits for a question. */
  function writeAndWait(events: readonly AgentEvent[], questionId: string, more?: Partial<RunFrameEncoderOptions>) {
    const encoder = new RunFrameEncoder({ ...options, ...more });
    for (const [index, event] of events.entries()) encoder.feed(event, { epoch: 1, seq: index + 1 });
    encoder.wait({ type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'question', questionId }] });
    return encoder.flush().split('\n\n').filter(Boolean);
  }

  test('ends the stream like that of a paused run', () => {
    const frames = writeAndWait(log.slice(0, 5), 'q');
    expect(getTypes(frames)).toBe(
      'start start-step text-start text-delta text-end tool-input-available message-metadata finish-step data-event finish',
    );
    expect(frames.map(parseChunk).find(({ type }) => type === 'message-metadata')).toEqual({
      type: 'message-metadata',
      messageMetadata: { intertie: { waitingFor: [{ type: 'question', questionId: 'q' }], seq: 5 } },
    });
  });

  test('continues in the next stream with only the new events', () => {
    const frames = writeAndWait(log, 'p', { baseline: 'assume', from: 5 });
    expect(getTypes(frames)).toMatch(/^start tool-output-available start-step text-start text-delta text-end /);
    expect(frames.join('\n')).not.toContain('"Hi"');
    expect(parseChunk(frames.at(-1)!).type).toBe('finish');
    for (const [index, frame] of frames.entries()) {
      const resumed = writeAndWait(log, 'p', { baseline: 'assume', from: 5, after: getCursor(frame) });
      expect(resumed).toEqual(frames.slice(index + 1));
    }
  });

  test('streams past answered questions to a later reader', () => {
    const frames = writeAndWait(log, 'p');
    expect(frames.join('\n')).toContain('"Bye"');
    expect(getTypes(frames)).toMatch(/message-metadata finish-step data-event finish$/);
  });

  test('pauses again if one of two questions is answered', () => {
    const frames = writeAndWait([start, ask('q'), ask('p')], 'p', { baseline: 'assume', from: 3 });
    expect(getTypes(frames)).toBe('start message-metadata data-event finish');
    expect(frames.map(parseChunk)[1]).toMatchObject({
      messageMetadata: { intertie: { waitingFor: [{ type: 'question', questionId: 'p' }] } },
    });
  });
});
