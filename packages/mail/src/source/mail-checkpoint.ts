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
  return { taskId, status: 'running', freshTaskId: fresh.taskId, ...defined({ requestAfter }) };
}

export function readCheckpoint(token: unknown): MAILCheckpoint | undefined {
  const { taskId: id, requestAfter, freshTaskId, lostTaskId } = asFields(token);
  const taskId = asNonEmptyText(id);
  if (taskId === undefined) return undefined;
  const optional = {
    requestAfter: asNonEmptyText(requestAfter),
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

/** Emits the checkpoint before the first frame, a new one when the task is replaced, and adds the last frame to the end of the run. */
export function withCheckpoints(
  decoder: Codec<MAILFrame, AgentEvent>,
  checkpoint: MAILCheckpoint,
): Codec<MAILFrame, AgentEvent> {
  let pending: MAILCheckpoint | undefined = checkpoint;
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
      if (pending) emit({ type: 'checkpoint', token: pending });
      pending = undefined;
      decoder.flush?.(emit);
    },
    feed(frame, emit) {
      if (hasKey.has(frame.event)) last = frame;
      if (frame.event === warningEvent) emit({ type: 'checkpoint', token: toFreshCheckpoint(checkpoint) });
      decoder.feed(frame, withLastFrame(emit));
    },
    end: (end, emit) => decoder.end(end, withLastFrame(emit)),
  };
}
