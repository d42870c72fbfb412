import { toFault } from '@intertie/core';
import { detectSingleAgent } from './detect-single-agent.ts';
import { FrameTimeoutError, withFrameTimeouts } from './frame-timeouts.ts';
import { asFields, parseJson, asText } from '../shared/fields.ts';
import type { MAILFrame } from '../shared/mail-event.ts';
import { toTaskFault, taskNotFound } from '../shared/mail-faults.ts';
import type { MAILServer } from './mail-server.ts';
import {
  defaultProgressMs,
  defaultSilenceMs,
  type MAILHeaders,
  type MAILModelSettings,
} from '../shared/mail-settings.ts';
import { toRequestBody, type MAILRequest } from './mail-request.ts';
import { pollTaskRecord } from './poll-task-record.ts';
import { readFrames } from './sse-frames.ts';
import { getAnswer, toFrameKey } from './task-record.ts';

export interface RequestContext {
  server: MAILServer;
  settings: MAILModelSettings;
  headers?: MAILHeaders;
  signal?: AbortSignal | undefined;
  /** Polling interval of the task record after a lost connection. */
  pollMs?: number;
  onTask?: ((task: { taskId: string; isNew: boolean }) => void) | undefined;
}

export interface StartedRequest {
  request: MAILRequest;
  /** Id of the task that the server no longer had, if a new one was started instead. */
  lostTaskId?: string;
  body: object;
  responseHeaders: Record<string, string>;
  frames: AsyncIterable<MAILFrame>;
}

/**
 * Sends a request and waits for the server's first event. If that event reports that the server no longer has the task, sends
 * `fresh` instead, which starts a new task with the transcript. Throws an `APICallError` if the server rejects the request;
 * later failures are thrown by `frames`.
 */
export async function sendRequest(
  request: MAILRequest,
  fresh: () => MAILRequest,
  context: RequestContext,
): Promise<StartedRequest> {
  const started = await sendOnce(request, context);
  if (request.resumeFrom === undefined || !started.isLost) return started;
  const restarted = await sendOnce(fresh(), context);
  return { ...restarted, lostTaskId: request.taskId };
}

async function sendOnce(request: MAILRequest, context: RequestContext): Promise<StartedRequest & { isLost: boolean }> {
  const { server, settings, headers = {}, signal, onTask } = context;
  const body = toRequestBody(request, settings, server.token !== undefined);
  onTask?.({ taskId: request.taskId, isNew: request.resumeFrom === undefined });
  const connection = new AbortController();
  // Aborting only the wire closes a silent connection while the request continues from the task record.
  const wire = new AbortController();
  const requestSignal = signal ? AbortSignal.any([signal, connection.signal]) : connection.signal;
  const response = await server.send(body, headers, AbortSignal.any([requestSignal, wire.signal]));
  const stream = response.body as ReadableStream<Uint8Array>;
  const frames = readResponse(stream, request.taskId, context, { signal: requestSignal, close: () => wire.abort() });
  const { buffered, isLost } = await readFirstEvent(frames);
  if (isLost) connection.abort();
  return {
    request,
    body,
    isLost,
    responseHeaders: Object.fromEntries(response.headers),
    frames: replayFrames(buffered, frames, connection),
  };
}

type BufferedFrames = Array<Promise<IteratorResult<MAILFrame, void>>>;

/** Reads up to the first event. A failure is buffered and thrown to the reader of the frames. */
async function readFirstEvent(
  frames: AsyncIterator<MAILFrame, void>,
): Promise<{ buffered: BufferedFrames; isLost: boolean }> {
  const buffered: BufferedFrames = [];
  for (;;) {
    const next = frames.next();
    buffered.push(next);
    try {
      const { done, value } = await next;
      if (done) return { buffered, isLost: false };
      if (value.event !== 'ping') return { buffered, isLost: isTaskLost(value) };
    } catch {
      return { buffered, isLost: false };
    }
  }
}

function isTaskLost({ event, data }: MAILFrame): boolean {
  if (event !== 'task_error') return false;
  const response = asText(asFields(typeof data === 'string' ? parseJson(data) : data).response);
  return response !== undefined && toTaskFault(response).code === taskNotFound;
}

/** Yields the buffered frames, then the others. `return` aborts the connection, which the server would hold for 15 s. */
function replayFrames(
  buffered: BufferedFrames,
  frames: AsyncIterator<MAILFrame, void>,
  connection: AbortController,
): AsyncIterable<MAILFrame> {
  const iterator: AsyncIterator<MAILFrame, void> = {
    next: async () => buffered.shift() ?? frames.next(),
    async return() {
      connection.abort();
      return { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

/** No further event follows these. */
const finalEvents: ReadonlySet<string> = new Set(['task_complete', 'task_error', 'breakpoint_tool_call']);

async function* readResponse(
  body: ReadableStream<Uint8Array>,
  taskId: string,
  { server, settings, pollMs }: RequestContext,
  { signal, close }: { signal: AbortSignal; close: () => void },
): AsyncGenerator<MAILFrame, void> {
  const { silenceMs = defaultSilenceMs, progressMs = defaultProgressMs, reattach = true } = settings;
  const limits = { silenceMs, progressMs };
  const seen: { key: string | undefined; answer: string | undefined } = { key: undefined, answer: undefined };
  let isOver = false;
  let failure: unknown;
  try {
    for await (const frame of detectSingleAgent(withFrameTimeouts(readFrames(body), limits, close), server, signal)) {
      seen.key = toFrameKey(frame) ?? seen.key;
      seen.answer = getAnswer(frame) ?? seen.answer;
      isOver ||= finalEvents.has(frame.event);
      yield frame;
    }
  } catch (error) {
    failure = error;
  }
  if (isOver || signal.aborted) return;
  const isStuck = failure instanceof FrameTimeoutError && failure.code === 'no-progress';
  if (reattach && !isStuck) {
    const remaining = pollTaskRecord({ server, taskId, signal, ...(pollMs !== undefined && { pollMs }) }, seen);
    for await (const frame of withFrameTimeouts(remaining, limits, () => undefined)) {
      isOver ||= frame.event !== 'ping' && finalEvents.has(frame.event);
      yield frame;
    }
  }
  if (isOver || failure === undefined) return;
  if (failure instanceof FrameTimeoutError) throw failure;
  const { message, code = 'connection' } = toFault(failure);
  throw Object.assign(new Error(`The connection to the MAIL server was lost: ${message}`), { code, cause: failure });
}
