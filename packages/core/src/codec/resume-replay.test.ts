import { describe, expect, it } from 'vitest';
import { runInput } from '../../test/run-input.ts';
import type { AgentEvent } from '../event/event.ts';
import type { CanonicalMessage } from '../event/message.ts';
import type { Loss } from '../json/loss.ts';
import { createResumePoint } from '../run/resume-point.ts';
import { createPartIds } from '../event/part-ids.ts';
import { transcode, type Codec } from './codec.ts';
import { hasSourceOutput, resumeReplay } from './resume-replay.ts';
import type { OnLoss } from '../json/loss.ts';
import type { RunInput } from '../event/run-input.ts';

const stored: CanonicalMessage = {
  id: 'message',
  threadId: 'thread',
  role: 'assistant',
  type: 'text',
  content: { format: 2, parts: [] },
  createdAt: new Date(0),
};

/** Decodes each frame as a text part, reports it as a loss, and ends the run at `end`. */
function decode(run: RunInput, onLoss: OnLoss): Codec<string, AgentEvent> {
  const ids = createPartIds(run);
  return {
    feed(frame, emit) {
      if (frame === 'end') return emit({ type: 'run-end', outcome: 'complete' });
      const id = ids.next();
      onLoss({ kind: 'withheld', what: frame, why: 'test' });
      emit({ type: 'text-start', id });
      emit({ type: 'text-delta', id, delta: frame });
      emit({ type: 'text-end', id });
    },
    end: () => undefined,
  };
}

const start: AgentEvent = { type: 'run-start', runId: 'run', threadId: 'thread', messageId: 'message', at: 0 };
const checkpoint: AgentEvent = { type: 'checkpoint', token: 'task' };
const part = (id: string, delta: string): AgentEvent[] => [
  { type: 'text-start', id },
  { type: 'text-delta', id, delta },
  { type: 'text-end', id },
];
const log: AgentEvent[] = [start, checkpoint, ...part('run:0', 'one'), ...part('run:1', 'two').slice(0, 1)];

function resume(frames: string[], events = log, end?: Parameters<typeof transcode>[2]) {
  const losses: Loss[] = [];
  const onLoss = (loss: Loss): void => void losses.push(loss);
  const codec = resumeReplay(runInput({ epoch: 2 }), createResumePoint(stored, events), { decode, onLoss });
  return { events: transcode(codec, frames, end), losses };
}

describe('resumeReplay', () => {
  it('emits only the events and losses after the last one of the log, with the ids of the first execution', () => {
    const { events, losses } = resume(['one', 'two', 'three', 'end']);
    expect(events).toMatchObject([
      { type: 'text-delta', id: 'run:1', delta: 'two' },
      { type: 'text-end', id: 'run:1' },
      ...part('run:2', 'three'),
      { type: 'run-end', outcome: 'complete' },
    ]);
    expect(losses.map(({ what }) => what)).toEqual(['three']);
  });

  it('ignores the notice of an earlier takeover', () => {
    const recovered: AgentEvent = { type: 'notice', level: 'info', code: 'recovered', message: '' };
    expect(resume(['one', 'two', 'end'], [...log, recovered]).events).toEqual(resume(['one', 'two', 'end']).events);
  });

  it('ends as lost with the token if the recording lacks the last event of the log', () => {
    const { events } = resume(['one', 'end']);
    expect(events.map(({ type }) => type)).toEqual(['text-end', 'run-end']);
    expect(events[1]).toMatchObject({ outcome: 'error', error: { code: 'lost' }, resume: 'task' });
  });

  it('ends as stopped if the run is stopped before the last event of the log', () => {
    const { events } = resume(['one'], log, { reason: 'aborted', by: 'user' });
    expect(events.at(-1)).toMatchObject({ type: 'run-end', outcome: 'aborted', by: 'user' });
  });
});

describe('hasSourceOutput', () => {
  it('ignores the opening, checkpoints and notices of takeovers', () => {
    const recovered: AgentEvent = { type: 'notice', level: 'info', code: 'recovered', message: '' };
    expect(hasSourceOutput({ events: [start, checkpoint, recovered] })).toBe(false);
    expect(hasSourceOutput({ events: log })).toBe(true);
    expect(hasSourceOutput({ events: [start, { ...recovered, code: 'other' }] })).toBe(true);
  });
});
