import { pause } from '@intertie/core/internal';
import { APICallError } from '@ai-sdk/provider';
import { keepAliveFrame, type MAILFrame } from '../shared/mail-event.ts';
import type { MAILServer } from './mail-server.ts';
import { getAnswer, toFrameKey, findLastRequest, readTaskRecord, type TaskRecord } from './task-record.ts';

export interface PollOptions {
  server: MAILServer;
  taskId: string;
  signal: AbortSignal;
  /** Polling interval. Default: 1 s. */
  pollMs?: number;
  /** Index of the first event to yield. Default: the event after `seen`. */
  start?: number;
}

const defaultPollMs = 1000;
/** A restarting server is back within seconds, and no longer has the task. */
const maxFailures = 3;

/**
 * Reads the rest of a task after its connection was lost. A MAIL server cannot resume a stream, but the task continues and is
 * recorded: polls the record until the task ends and yields the events after `seen`. Yields nothing without a record.
 */
export async function* pollTaskRecord(
  { server, taskId, signal, pollMs = defaultPollMs, start }: PollOptions,
  seen: { key: string | undefined; answer: string | undefined },
): AsyncGenerator<MAILFrame, void> {
  let { answer } = seen;
  let next = start;
  let failures = 0;
  let idle = 0;
  while (!signal.aborted) {
    let record: TaskRecord | undefined;
    try {
      record = await readTaskRecord(server, taskId, signal);
      failures = 0;
      if (!record) return;
    } catch (error) {
      failures += 1;
      if (failures >= maxFailures || !mayRecover(error)) return;
    }
    if (record) {
      const unseen = record.events.slice(next ?? findUnseenEvent(record.events, seen.key));
      next = record.events.length;
      for (const frame of unseen) {
        answer = getAnswer(frame) ?? answer;
        if (!isSynthetic(frame)) yield frame;
      }
      if (record.isCompleted && (answer !== undefined || !record.isRunning)) {
        // The record does not contain the final event of the stream.
        return yield { event: 'task_complete', data: { task_id: taskId, response: answer ?? '' } };
      }
      idle = unseen.length === 0 && !record.isRunning ? idle + 1 : 0;
      if (idle >= maxFailures) return;
      yield keepAliveFrame;
    }
    // An abort ends the loop without an error.
    await pause(pollMs, signal).catch(() => undefined);
  }
}

function findUnseenEvent(events: readonly MAILFrame[], key: string | undefined): number {
  const last = key === undefined ? -1 : events.findLastIndex((frame) => toFrameKey(frame) === key);
  return last === -1 ? findLastRequest(events) : last + 1;
}

/** Non-streaming calls log a `task_complete`, which repeats what the record's other events contain. */
function isSynthetic({ event }: MAILFrame): boolean {
  return event === 'task_complete';
}

function mayRecover(error: unknown): boolean {
  return APICallError.isInstance(error) && error.isRetryable;
}
