import { describe, expect, it } from 'vitest';
import { runInput } from '../../test/run-input.ts';
import { transcode } from '../codec/codec.ts';
import { seal } from '../codec/seal.ts';
import type { AgentEvent } from '../event/event.ts';
import type { CanonicalMessage } from '../event/message.ts';
import { createPartIds } from '../event/part-ids.ts';
import type { Loss } from '../json/loss.ts';
import { createClosingEvents, createResumePoint } from './resume-point.ts';

const run = runInput({ runId: 'r', epoch: 2, state: { n: 1 } });
const message: CanonicalMessage = {
  id: 'm',
  threadId: run.threadId,
  role: 'assistant',
  type: 'text',
  content: { format: 2, parts: [] },
  createdAt: new Date(0),
};
const written: AgentEvent[] = [
  { type: 'checkpoint', token: { task: 1 }, at: run.startedAt },
  { type: 'step-start', stepId: 's' },
  { type: 'text-start', id: 'r:0', stepId: 's' },
  { type: 'text-delta', id: 'r:0', delta: 'Hel' },
  { type: 'checkpoint', token: { task: 2 } },
  { type: 'text-delta', id: 'r:0', delta: 'lo' },
  { type: 'text-end', id: 'r:0' },
  { type: 'step-end', stepId: 's' },
  { type: 'run-end', outcome: 'complete' },
];

describe('a resumed run', () => {
  it('continues at any committed event with the same result', () => {
    const all = transcode(
      seal(run, () => undefined),
      written,
    );
    for (let committed = 0; committed < all.length; committed++) {
      const losses: Loss[] = [];
      const log = all.slice(0, committed);
      const rest = transcode(
        seal(run, (loss) => losses.push(loss), { log }),
        written.slice(Math.max(0, committed - 2)),
      );
      expect([...log, ...rest], `after ${committed} events`).toEqual(all);
      expect(losses).toEqual([]);
    }
  });

  it('receives the message, the open items and the last token', () => {
    const log = transcode(
      seal(run, () => undefined),
      written,
    ).slice(0, 8);
    const from = createResumePoint(message, log);
    expect(from.open).toEqual([
      { kind: 'step', id: 's' },
      { kind: 'text', id: 'r:0' },
    ]);
    expect(from.token).toEqual({ task: 2 });
    expect(from.message).toMatchObject({ status: 'streaming', content: { parts: [{ type: 'text', text: 'Hello' }] } });
    expect(createClosingEvents(from.open)).toEqual([
      { type: 'text-end', id: 'r:0' },
      { type: 'step-end', stepId: 's' },
    ]);
  });

  it('creates part ids that contain the epoch and avoids the ids of discarded parts', () => {
    const call: AgentEvent = { type: 'tool-call', toolCallId: 'call_1', toolName: 'look', input: {} };
    const ids = createPartIds(run, { events: [call], message });
    expect([ids.next(), ids.open('call_1'), ids.open('call_2')]).toEqual(['r:2.0', 'r:2.1', 'call_2']);
  });
});
