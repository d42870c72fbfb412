import type { AgentEvent, Codec, Emit, RunInput } from '@intertie/core';
import { defined } from '@intertie/core/internal';
import type { MAILRequest } from '../client/mail-request.ts';
import { toFrameKey } from '../client/task-record.ts';
import { asFields, asNonEmptyText } from '../shared/fields.ts';
import { loggedEvents, warningEvent, type MAILFrame } from '../shared/mail-event.ts';
import { readResume } from '../shared/mail-metadata.ts';

/** Token of a running request. It is also a `MAILResume`, so that the next turn of a lost run continues its task. */
export type MAILCheckpoint = {
  taskId: string;
  status: 'running';
  /** Key of the last event before the request, if the task existed and the event is known. */
  requestAfter?: string;
  /** Set until `requestAfter` was read from the record. The request is sent after the next checkpoint is in the log. */
  isPlanned?: true;
  /** Task that is started if the server no longer has `taskId`. */
  freshTaskId?: string;
  /** Task that the server had lost, so that `taskId` was started instead. */
  lostTaskId?: string;
};

/** Creates the token of a request before it is sent. */
export function createCheckpoint(run: RunInput, request: MAILRequest, fresh: MAILRequest): MAILCheckpoint {
  const { taskId, resumeFrom } = request;
  if (resumeFrom === undefined) return { taskId, status: 'running' };
  const requestAfter = readResume(run.sourceState)?.lastFrameKey;
  const known = requestAfter === undefined ? { isPlanned: true as const } : { requestAfter };
  return { taskId, status: 'running', freshTaskId: fresh.taskId, ...known };
}

export function readCheckpoint(token: unknown): MAILCheckpoint | undefined {
  const { taskId: id, requestAfter, isPlanned, freshTaskId, lostTaskId } = asFields(token);
  const taskId = asNonEmptyText(id);
  if (taskId === undefined) return undefined;
  const optional = {
    requestAfter: asNonEmptyText(requestAfter),
    isPlanned: isPlanned === true ? (true as const) : undefined,
    freshTaskId: asNonEmptyText(freshTaskId),
    lostTaskId: asNonEmptyText(lostTaskId),
  };
  return { taskId, status: 'running', ...defined(optional) };
}

/** Creates the token of a request whose task the server had lost. */
export function toFreshCheckpoint(checkpoint: MAILCheckpoint): MAILCheckpoint {
  if (checkpoint.lostTaskId !== undefined) return checkpoint;
  const { taskId: lostTaskId, freshTaskId: taskId = lostTaskId } = checkpoint;
  return { taskId, status: 'running', lostTaskId };
}

/** Creates the frame that reports a lost task to the decoder. */
export function createLostTaskFrame({ taskId, lostTaskId = '' }: MAILCheckpoint): MAILFrame {
  const description = `The server has lost the task ${lostTaskId}. A new task was started with the transcript.`;
  return { event: warningEvent, data: { description, task_id: taskId } };
}

const hasKey: ReadonlySet<string> = new Set(loggedEvents);

/**
 * Emits the pending checkpoints before the next frame, a new one when the task is replaced, and adds the last frame to the end of the
 * run.
 */
export function withCheckpoints(
  decoder: Codec<MAILFrame, AgentEvent>,
  checkpoint: MAILCheckpoint,
  pending: MAILCheckpoint[],
): Codec<MAILFrame, AgentEvent> {
  const emitPending = (emit: Emit<AgentEvent>): void => {
    for (const token of pending.splice(0)) emit({ type: 'checkpoint', token });
  };
  let last: MAILFrame | undefined;
  const withLastFrame =
    (emit: Emit<AgentEvent>): Emit<AgentEvent> =>
    (event) => {
      if (event.type !== 'run-end' || event.resume === undefined) return emit(event);
      const lastFrameKey = last && toFrameKey(last);
      emit({ ...event, resume: { ...asFields(event.resume), ...defined({ lastFrameKey }) } as typeof event.resume });
    };
  return {
    flush(emit) {
      emitPending(emit);
      decoder.flush?.(emit);
    },
    feed(frame, emit) {
      emitPending(emit);
      if (hasKey.has(frame.event)) last = frame;
      if (frame.event === warningEvent) emit({ type: 'checkpoint', token: toFreshCheckpoint(checkpoint) });
      decoder.feed(frame, withLastFrame(emit));
    },
    end: (end, emit) => decoder.end(end, withLastFrame(emit)),
  };
}
