import { toFault } from '@intertie/core';
import { aloneFrames } from './alone-frames.ts';
import { FrameLimitError, limitFrames } from './limit-frames.ts';
import { asFields, parseJson, asText } from '../shared/fields.ts';
import type { MAILFrame } from '../shared/mail-event.ts';
import { taskFault, taskNotFound } from '../shared/mail-faults.ts';
import type { MAILServer } from './mail-server.ts';
import {
  defaultProgressMs,
  defaultSilenceMs,
  type MAILHeaders,
  type MAILModelSettings,
} from '../shared/mail-settings.ts';
import { toRequestBody, type MAILTurn } from './mail-turn.ts';
import { reattachFrames } from './reattach-frames.ts';
import { readFrames } from './sse-frames.ts';
import { answerOf, frameKey } from './task-record.ts';

export interface TurnContext {
  server: MAILServer;
  settings: MAILModelSettings;
  headers?: MAILHeaders;
  signal?: AbortSignal | undefined;
  /** How long to wait between two looks at a task's record. */
  pollMs?: number;
  onTask?: ((task: { taskId: string; isNew: boolean }) => void) | undefined;
}

export interface StartedTurn {
  turn: MAILTurn;
  /** The task that the server had lost, if there was one. */
  lost?: string;
  body: object;
  responseHeaders: Record<string, string>;
  frames: AsyncIterable<MAILFrame>;
}

/**
 * Sends a turn and reads the server's first event, before anything is shown: a task that the server has lost is found out
 * there, and started anew with all that was said. Throws an `APICallError` where the server does not take the turn; what
 * fails later is thrown by `frames`.
 */
export async function startTurn(turn: MAILTurn, fresh: () => MAILTurn, context: TurnContext): Promise<StartedTurn> {
  const started = await send(turn, context);
  if (turn.resumeFrom === undefined || !started.isLost) return started;
  const again = await send(fresh(), context);
  return { ...again, lost: turn.taskId };
}

async function send(turn: MAILTurn, context: TurnContext): Promise<StartedTurn & { isLost: boolean }> {
  const { server, settings, headers = {}, signal, onTask } = context;
  const body = toRequestBody(turn, settings, server.token !== undefined);
  onTask?.({ taskId: turn.taskId, isNew: turn.resumeFrom === undefined });
  const connection = new AbortController();
  // A wire that has gone silent is closed, and the turn goes on without it.
  const wire = new AbortController();
  const turnSignal = signal ? AbortSignal.any([signal, connection.signal]) : connection.signal;
  const response = await server.send(body, headers, AbortSignal.any([turnSignal, wire.signal]));
  const stream = response.body as ReadableStream<Uint8Array>;
  const frames = turnFrames(stream, turn.taskId, context, { signal: turnSignal, close: () => wire.abort() });
  const { first, isLost } = await peek(frames);
  if (isLost) connection.abort();
  return {
    turn,
    body,
    isLost,
    responseHeaders: Object.fromEntries(response.headers),
    frames: chain(first, frames, connection),
  };
}

type Peeked = Array<Promise<IteratorResult<MAILFrame, void>>>;

/** Reads up to the first event. What fails on the way is kept for whoever reads the frames. */
async function peek(frames: AsyncIterator<MAILFrame, void>): Promise<{ first: Peeked; isLost: boolean }> {
  const first: Peeked = [];
  for (;;) {
    const next = frames.next();
    first.push(next);
    try {
      const { done, value } = await next;
      if (done) return { first, isLost: false };
      if (value.event !== 'ping') return { first, isLost: isTaskLost(value) };
    } catch {
      return { first, isLost: false };
    }
  }
}

function isTaskLost({ event, data }: MAILFrame): boolean {
  if (event !== 'task_error') return false;
  const response = asText(asFields(typeof data === 'string' ? parseJson(data) : data).response);
  return response !== undefined && taskFault(response).code === taskNotFound;
}

/** Leaving closes the connection at once, also while a frame is waited for: the server would hold it for 15 s. */
function chain(
  first: Peeked,
  frames: AsyncIterator<MAILFrame, void>,
  connection: AbortController,
): AsyncIterable<MAILFrame> {
  const iterator: AsyncIterator<MAILFrame, void> = {
    next: async () => first.shift() ?? frames.next(),
    async return() {
      connection.abort();
      return { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

/** After these the stream has nothing more to say. */
const lastEvents: ReadonlySet<string> = new Set(['task_complete', 'task_error', 'breakpoint_tool_call']);

async function* turnFrames(
  body: ReadableStream<Uint8Array>,
  taskId: string,
  { server, settings, pollMs }: TurnContext,
  { signal, close }: { signal: AbortSignal; close: () => void },
): AsyncGenerator<MAILFrame, void> {
  const { silenceMs = defaultSilenceMs, progressMs = defaultProgressMs, reattach = true } = settings;
  const limits = { silenceMs, progressMs };
  const seen: { key: string | undefined; answer: string | undefined } = { key: undefined, answer: undefined };
  let isOver = false;
  let failure: unknown;
  try {
    for await (const frame of aloneFrames(limitFrames(readFrames(body), limits, close), server, signal)) {
      seen.key = frameKey(frame) ?? seen.key;
      seen.answer = answerOf(frame) ?? seen.answer;
      isOver ||= lastEvents.has(frame.event);
      yield frame;
    }
  } catch (error) {
    failure = error;
  }
  if (isOver || signal.aborted) return;
  const isStuck = failure instanceof FrameLimitError && failure.code === 'no-progress';
  if (reattach && !isStuck) {
    const rest = reattachFrames({ server, taskId, signal, ...(pollMs !== undefined && { pollMs }) }, seen);
    for await (const frame of limitFrames(rest, limits, () => undefined)) {
      isOver ||= frame.event !== 'ping' && lastEvents.has(frame.event);
      yield frame;
    }
  }
  if (isOver || failure === undefined) return;
  if (failure instanceof FrameLimitError) throw failure;
  const { message, code = 'connection' } = toFault(failure);
  throw Object.assign(new Error(`The connection to the MAIL server was lost: ${message}`), { code, cause: failure });
}
