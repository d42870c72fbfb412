import { readRunHeaders } from '@intertie/core/http';
import type { Emit } from '@intertie/core';
import { pause, pullStream } from '@intertie/core/internal';
import { metadataKey } from '../../shared/intertie-metadata.ts';
import { asFields, asNonEmptyText } from '../../shared/read-fields.ts';
import type { ChatCursor } from './chat-cursors.ts';
import { isAfter, parseRunCursor, type RunCursor } from '../run-cursor.ts';
import type { UIMessageChunkOf, UIMessageVersion } from '../../ui-message-stream/chunk/ui-message-chunk.ts';
import {
  createUIMessageSSEParser,
  type UIMessageSSEError,
  type UIMessageSSEParser,
} from '../../ui-message-stream/sse/ui-message-sse.ts';

export interface ResumableChunksOptions<Version extends UIMessageVersion> {
  version: Version;
  /** Cursor after which the response begins. Undefined: the reader has no part of the message. */
  cursor: ChatCursor | undefined;
  /** How all chunks are requested again while none has been read: from the start of the run, or by this request. */
  startOver: 'run' | (() => Promise<Response>) | undefined;
  /** Aborts the current request and ends the stream. */
  signal: AbortSignal;
  /** Requests the chunks after the cursor. Rejects with a `TypeError` if the server is unreachable. */
  reconnect: (cursor: ChatCursor) => Promise<Response>;
  maxReconnects: number;
  /** Delay before the nth consecutive attempt, in milliseconds. */
  reconnectDelayMs: (attempt: number) => number;
  /** Whether a resumed stream may start over with `start`. Called with the first chunk of a response. */
  canRestart: () => boolean;
  /** Called when reconnecting has failed and the reader has a part of the message. */
  onDisconnect: (cursor: ChatCursor) => void;
  /** Called when the message has ended or the reader has cancelled. */
  onClose: (reason?: unknown) => void;
}

/** Whether a status is temporary. */
const isRetryable = (status: number): boolean => status >= 500 || status === 408 || status === 425 || status === 429;

/** Creates an error that `useChat` treats as a disconnect: it checks for a `TypeError` with "network" in its message. */
function networkError(why: string, cause?: unknown): TypeError {
  return new TypeError(`network error: ${why}`, cause === undefined ? undefined : { cause });
}

/**
 * Streams the chunks of a response and reconnects after the last chunk if the response is interrupted. The message ends only
 * with `finish`, `abort` or `error`. If it cannot be completed, the stream emits all received chunks and then errors.
 */
export function createResumableChunks<Version extends UIMessageVersion>(
  first: Response,
  options: ResumableChunksOptions<Version>,
): ReadableStream<UIMessageChunkOf<Version>> {
  const { version, signal, reconnect, maxReconnects, reconnectDelayMs, onDisconnect, onClose } = options;
  let { run, after } = options.cursor ?? { run: undefined, after: undefined };
  let hasRead = options.cursor !== undefined;
  let emit: Emit<UIMessageChunkOf<Version>>;
  let reader: ReadableStreamDefaultReader<Uint8Array>;
  let parser: UIMessageSSEParser;
  let isFinished = false;
  let isOver = false;
  let attempts = 0;
  /** Whether the next chunk is the first of its response. */
  let isFirstChunk = true;
  /** Cursor of the last chunk of the response. Chunks up to it are duplicates and are skipped. */
  let last: RunCursor | undefined;
  /** Error of the response, thrown after its valid chunks have been read. */
  let failure: Error | undefined;

  const onChunk = (chunk: UIMessageChunkOf<Version>, id: string | undefined): void => {
    if (isFinished || failure !== undefined) return;
    const cursor = id === undefined ? undefined : parseRunCursor(id);
    if (cursor && last && !isAfter(cursor, last)) return;
    last = cursor ?? last;
    const isRestart = isFirstChunk && chunk.type === 'start' && hasRead;
    isFirstChunk = false;
    if (isRestart && !options.canRestart()) {
      after = undefined;
      failure = networkError('the server restarted the message, which this chat does not support. Reload the page.');
      return;
    }
    attempts = 0;
    hasRead = true;
    if (id !== undefined) after = id;
    if (chunk.type === 'start') run ??= readRunId(chunk.messageMetadata);
    isFinished = chunk.type === 'finish' || chunk.type === 'abort' || chunk.type === 'error';
    emit(chunk);
  };

  const open = (response: Response): void => {
    run = readRunHeaders(response).runId ?? run;
    isFirstChunk = true;
    last = undefined;
    reader = (response.body ?? new Blob([]).stream()).getReader();
    parser = createUIMessageSSEParser<Version>({
      version,
      onChunk,
      onError: (error: UIMessageSSEError) => {
        // An incomplete event is sent again after a reconnect. An invalid one would be invalid again.
        if (!isFinished && error.type !== 'incomplete') failure ??= error;
      },
    });
  };

  /** A custom `fetch` may ignore the signal. */
  const onAbort = (): void => void reader.cancel(signal.reason).catch(() => undefined);

  const close = (reason?: unknown): void => {
    if (isOver) return;
    isOver = true;
    signal.removeEventListener('abort', onAbort);
    onClose(reason);
    reader.cancel(reason).catch(() => undefined);
  };

  /** Returns the request for the missing chunks; undefined if there is none. */
  const findRequest = (): (() => Promise<Response>) | undefined => {
    const startOver = hasRead ? undefined : options.startOver;
    if (typeof startOver === 'function') return startOver;
    if (run === undefined || (after === undefined && startOver === undefined)) return undefined;
    return () => reconnect({ run, after });
  };

  const reopen = async (cause: unknown): Promise<void> => {
    const requestRest = findRequest();
    if (requestRest === undefined) {
      throw networkError('the stream was interrupted, and the server sent no cursor to resume from.', cause);
    }
    for (let lastError = cause; ;) {
      if (attempts >= maxReconnects) {
        throw networkError(`the stream was interrupted, and ${attempts} reconnects have failed.`, lastError);
      }
      attempts += 1;
      await pause(reconnectDelayMs(attempts), signal);
      try {
        const response = await requestRest();
        if (response.status === 204)
          throw networkError('the stream was interrupted, and the server has nothing to resume.');
        if (response.ok) return open(response);
        const text = await response.text();
        lastError = new Error(`The server refused to resume the stream (${response.status}). ${text}`.trim());
        if (!isRetryable(response.status)) throw lastError;
      } catch (error) {
        const isUnreachable = error instanceof TypeError && !error.message.startsWith('network error:');
        if (!isUnreachable) throw error;
        lastError = error;
      }
    }
  };

  const readNext = async (): Promise<void> => {
    let cause: unknown;
    try {
      const { done, value } = await reader.read();
      if (!done) return parser.feed(value);
      parser.end();
    } catch (error) {
      cause = error;
    }
    signal.throwIfAborted();
    if (!isOver && !isFinished && failure === undefined) await reopen(cause);
  };

  open(first);
  signal.addEventListener('abort', onAbort);
  return pullStream({
    start: (emitChunk) => void (emit = emitChunk),
    async pull() {
      try {
        // Thrown only now that all valid chunks have been read: an error drops unread chunks.
        if (failure !== undefined) throw failure;
        if (!isFinished) await readNext();
        else close();
      } catch (error) {
        if (!isOver && error instanceof TypeError && hasRead) onDisconnect({ run, after });
        throw error;
      }
      return !isOver;
    },
    cancel: close,
  });
}

/** Reads the run id from message metadata, since pages of another origin may not see the header. */
function readRunId(messageMetadata: unknown): string | undefined {
  return asNonEmptyText(asFields(asFields(messageMetadata)[metadataKey]).runId);
}
