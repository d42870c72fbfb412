import type { ResumePoint } from '@intertie/core';
import { hasSourceOutput, pause } from '@intertie/core/internal';
import { followRecord, readRecordToResume, toLostTaskFault } from '../client/follow-task.ts';
import type { MAILServer } from '../client/mail-server.ts';
import { findLastRequest, findRequestAfter, type TaskRecord } from '../client/task-record.ts';
import type { MAILFrame } from '../shared/mail-event.ts';
import type { MAILModelSettings } from '../shared/mail-settings.ts';
import { createLostTaskFrame, toFreshCheckpoint, type MAILCheckpoint } from './mail-checkpoint.ts';

export interface ResumeTaskOptions {
  server: MAILServer;
  settings: MAILModelSettings;
  from: ResumePoint;
  checkpoint: MAILCheckpoint;
  signal: AbortSignal;
}

/** Time in which a request that a dead process had sent reaches the server. */
const arrivalMs = 1_000;

/**
 * Reads the request of a dead process from the record of its task, from the start of the request. Returns undefined if the server
 * never received the request. Throws a `lost` fault if the server no longer has the task.
 */
export async function resumeTask(options: ResumeTaskOptions): Promise<AsyncIterable<MAILFrame> | undefined> {
  const { server, from, signal, checkpoint: known } = options;
  const hasOutput = hasSourceOutput(from);
  if (from.token === undefined) {
    if (!hasOutput) return undefined;
    const message =
      'The log of the run does not name its MAIL task. Its output so far is kept. Send the message again.';
    throw Object.assign(new Error(message), { code: 'lost' });
  }
  if (known.isPlanned) return undefined;
  const findRequest = async (): Promise<AsyncIterable<MAILFrame> | undefined> => {
    const found = await findTask(known, (taskId) => readRecordToResume(server, taskId, signal));
    const start = found && findStart(found.record, found.checkpoint);
    return found && start !== undefined ? followTask(options, found.checkpoint, start) : undefined;
  };
  const request = await findRequest();
  if (request) return request;
  if (hasOutput) throw toLostTaskFault(known.taskId);
  // The dead process may have sent the request just before its end. The server would execute a repeated request twice.
  await pause(arrivalMs, signal);
  return findRequest();
}

/** Finds the task of a checkpoint, or the task that replaced it. */
async function findTask(
  checkpoint: MAILCheckpoint,
  read: (taskId: string) => Promise<TaskRecord | undefined>,
): Promise<{ checkpoint: MAILCheckpoint; record: TaskRecord } | undefined> {
  const record = await read(checkpoint.taskId);
  if (record) return { checkpoint, record };
  if (checkpoint.freshTaskId === undefined) return undefined;
  return findTask(toFreshCheckpoint(checkpoint), read);
}

/** Returns the index where the request begins in the record. */
function findStart({ events }: TaskRecord, { requestAfter, freshTaskId }: MAILCheckpoint): number | undefined {
  // Without `freshTaskId` the request has started the task.
  if (freshTaskId === undefined) return 0;
  return requestAfter === undefined ? findLastRequest(events) : findRequestAfter(events, requestAfter);
}

async function* followTask(
  { server, settings, signal }: ResumeTaskOptions,
  checkpoint: MAILCheckpoint,
  start: number,
): AsyncGenerator<MAILFrame, void> {
  if (checkpoint.lostTaskId !== undefined) yield createLostTaskFrame(checkpoint);
  yield* followRecord({ server, taskId: checkpoint.taskId, signal, start }, settings);
}
