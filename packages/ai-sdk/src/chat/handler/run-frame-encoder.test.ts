import type { AgentEvent, EventOf, MessageContent } from '@intertie/core';
import { describe, expect, test } from 'vitest';
import { parseRunCursor, type RunCursor } from '../run-cursor.ts';
import { getEncoderId, RunFrameEncoder, type RunFrameEncoderOptions } from './run-frame-encoder.ts';

const start: EventOf<'run-start'> = { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm' };
const complete: AgentEvent = { type: 'run-end', outcome: 'complete', finishReason: 'stop' };
const says = (id: string, ...deltas: string[]): AgentEvent[] => [
  { type: 'text-start', id },
  ...deltas.map((delta): AgentEvent => ({ type: 'text-delta', id, delta })),
  { type: 'text-end', id },
];
const asks = (questionId: string): AgentEvent => ({ type: 'question', questionId, kind: 'input', message: 'Which?' });
const answers = (questionId: string): AgentEvent => ({ type: 'answer', questionId, value: 'this' });
const options: RunFrameEncoderOptions = { baseline: 'restate', errorText: ({ message }) => message };

function write(events: readonly AgentEvent[], more: Partial<RunFrameEncoderOptions> = {}, epoch = 1): string[] {
  const frames = new RunFrameEncoder({ ...options, ...more });
  for (const [index, event] of events.entries()) frames.feed(event, { epoch, seq: index + 1 });
  return frames.flush().split('\n\n').filter(Boolean);
}

const chunkOf = (frame: string): { type: string; [key: string]: unknown } =>
  JSON.parse(frame.slice(frame.indexOf('data: ') + 6)) as { type: string };
const typesOf = (frames: readonly string[]): string => frames.map((frame) => chunkOf(frame).type).join(' ');
const cursorOf = (frame: string): RunCursor => parseRunCursor(/^id: (.*)$/m.exec(frame)![1]!)!;

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
  ...says('one', 'Hel', 'lo'),
  { type: 'tool-call', toolCallId: 'd', toolName: 'add', input: { a: 1 } },
  { type: 'tool-result', toolCallId: 'd', status: 'ok', output: 2 },
  ...says('two', 'Bye'),
  complete,
];

describe('the frames of a run', () => {
  test.each(['assume', 'restate'] as const)('%s: behind every cursor is exactly the rest', (way) => {
    const all = write(rich, { baseline: way });
    expect(all.length).toBeGreaterThan(12);
    for (const [index, frame] of all.entries()) {
      const after = cursorOf(frame);
      expect(after.encoder).toBe(getEncoderId({ ...options, baseline: way }));
      expect(write(rich, { baseline: way, after })).toEqual(all.slice(index + 1));
    }
  });

  test('a continuation is told whole to a reader that has nothing, and its rest to one that has the message', () => {
    expect(typesOf(write(rich, { baseline: 'restate' }))).toContain('tool-output-available');
    expect(write(rich, { baseline: 'restate' }).join('\n')).toContain('Before.');
    expect(write(rich, { baseline: 'assume' }).join('\n')).not.toContain('Before.');
  });

  test('another encoder, other options and another place to begin have other names', () => {
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

  test('what a client may send as a cursor and is none', () => {
    for (const text of ['', '1.2.3', 'ui~1.2', 'ui~-1.2.3', 'ui~1.2.x', `ui~1.2.${'9'.repeat(400)}`, 'a\nb~1.2.3']) {
      expect(parseRunCursor(text)).toBeUndefined();
    }
  });

  test('an error tells the page what the page may know', () => {
    const failed: AgentEvent = { type: 'run-end', outcome: 'error', error: { message: 'secret', data: 'stack' } };
    const frames = write([start, failed], { errorText: () => 'Sorry.' });
    expect(chunkOf(frames.at(-1)!)).toEqual({ type: 'error', errorText: 'Sorry.' });
    expect(frames.join('\n')).not.toMatch(/secret|stack/);
  });
});

describe('a run that waits inside its process', () => {
  const log = [start, ...says('one', 'Hi'), asks('q'), answers('q'), ...says('two', 'Bye'), asks('p')];
  const livePause = { tail: 0, answered: [] };

  test('ends the stream where it waits, as that of a paused run', () => {
    const frames = write(log, { livePause });
    expect(typesOf(frames)).toBe(
      'start start-step text-start text-delta text-end tool-input-available message-metadata finish-step data-event finish',
    );
    expect(frames.map(chunkOf).find(({ type }) => type === 'message-metadata')).toEqual({
      type: 'message-metadata',
      messageMetadata: { intertie: { waitingFor: [{ type: 'question', questionId: 'q' }], seq: 5 } },
    });
  });

  test('goes on in the next stream, which has what came since and nothing else', () => {
    const frames = write(log, { baseline: 'assume', from: 5, livePause: { tail: 5, answered: ['q'] } });
    expect(typesOf(frames)).toMatch(/^start tool-output-available start-step text-start text-delta text-end /);
    expect(frames.join('\n')).not.toContain('"Hi"');
    expect(chunkOf(frames.at(-1)!).type).toBe('finish');
    const all = { baseline: 'assume', from: 5, livePause: { tail: log.length, answered: [] } } as const;
    for (const [index, frame] of frames.entries()) {
      expect(write(log, { ...all, after: cursorOf(frame) })).toEqual(frames.slice(index + 1));
    }
  });

  test('a reader that comes later is told all of it, past what was answered', () => {
    const frames = write(log, { livePause: { tail: log.length, answered: [] } });
    expect(frames.join('\n')).toContain('"Bye"');
    expect(typesOf(frames)).toMatch(/message-metadata finish-step data-event finish$/);
    const before = write(log.slice(0, -1), { livePause: { tail: log.length, answered: [] } });
    expect(typesOf(before)).not.toContain('finish ');
  });

  test('does not wait for what a rule decides', () => {
    const ruled: AgentEvent = { type: 'question', questionId: 'r', kind: 'approval', automatic: true };
    expect(typesOf(write([start, ruled, ...says('one', 'Hi')], { livePause }))).not.toContain('finish');
  });

  test('with one of two answered it waits on', () => {
    const both = [start, asks('q'), asks('p')];
    const frames = write(both, { baseline: 'assume', from: 3, livePause: { tail: 3, answered: ['q'] } });
    expect(typesOf(frames)).toBe('start message-metadata data-event finish');
    expect(frames.map(chunkOf)[1]).toMatchObject({
      messageMetadata: { intertie: { waitingFor: [{ type: 'question', questionId: 'p' }] } },
    });
  });
});
