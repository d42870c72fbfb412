import { pause, restartPausesMs } from '@intertie/core/internal';
import { detectSingleAgent } from './detect-single-agent.ts';
import { withFrameTimeouts } from './frame-timeouts.ts';
import { pollTaskRecord, type PollOptions } from './poll-task-record.ts';
import { readTaskRecord, type TaskRecord } from './task-record.ts';
import type { MAILFrame } from '../shared/mail-event.ts';
import { defaultProgressMs, defaultSilenceMs, type MAILModelSettings } from '../shared/mail-settings.ts';
import type { MAILServer } from './mail-server.ts';

/** Reads the record of a task whose run is resumed. Throws a `lost` fault if the server cannot be reached. */
export async function readRecordToResume(
  server: MAILServer,
  taskId: string,
  signal: AbortSignal,
): Promise<TaskRecord | undefined> {
  for (const waitMs of [...restartPausesMs, undefined]) {
    try {
      return await readTaskRecord(server, taskId, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      if (waitMs === undefined) throw toUnreachableFault(taskId, error);
    }
    await pause(waitMs, signal);
  }
  return undefined;
}

/** Yields the events of a task from an index of its record, until the task ends. */
export function followRecord(options: PollOptions, settings: MAILModelSettings): AsyncGenerator<MAILFrame, void> {
  const { silenceMs = defaultSilenceMs, progressMs = defaultProgressMs } = settings;
  const frames = pollTaskRecord(options, { key: undefined, answer: undefined });
  const limited = withFrameTimeouts(frames, { silenceMs, progressMs }, () => undefined);
  return detectSingleAgent(limited, options.server, options.signal);
}

// Clients see the texts of `lost` errors, so they contain no URL and no text of the server.

function toUnreachableFault(taskId: string, cause: unknown): Error {
  const message =
    `The MAIL server did not return the record of the task "${taskId}", so the rest of the run cannot be read. The task may ` +
    'still run. When the server is reachable, send a message to continue the task.';
  return Object.assign(new Error(message), { code: 'lost', cause });
}

/** Creates the error of a run whose task the server does not have. */
export function toLostTaskFault(taskId: string): Error {
  const message =
    `The MAIL server no longer has the task "${taskId}" of this run. It was restarted, or the task belongs to another key. ` +
    'The output so far is kept. Send the message again to start a new task.';
  return Object.assign(new Error(message), { code: 'lost' });
}
