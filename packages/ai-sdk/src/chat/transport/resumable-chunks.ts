import { readRunHeaders } from '@intertie/core/http';
import type { Emit } from '@intertie/core';
import { pause, pullStream } from '@intertie/core/internal';
import { metadataKey } from '../../shared/intertie-metadata.ts';
import { asFields, asNonEmptyText } from '../../shared/read-fields.ts';
import type { ChatCursor } from '../handler/chat-cursors.ts';
import { isBehind, parseRunCursor, type RunCursor } from '../run-cursor.ts';
import type { UIMessageChunkOf, UIMessageVersion } from '../../ui-message-stream/chunk/ui-message-chunk.ts';
import {
  createUIMessageSSEParser,
  type UIMessageSSEError,
  type UIMessageSSEParser,
} from '../../ui-message-stream/sse/ui-message-sse.ts';

export interface ResumableChunksOptions<Version extends UIMessageVersion> {
  version: Version;
  /** Behind which chunk the response begins. Undefined: the reader has nothing of the message yet. */
  cursor: ChatCursor | undefined;
  /** Whether a reader that has nothing yet may be told all of the message: it has no part of it from before. */
  mayBegin: boolean;
  /** Aborts what is under way. */
  signal: AbortSignal;
  /** Asks for what comes after the cursor. Rejects with a `TypeError` if the server cannot be reached. */
  reconnect: (cursor: ChatCursor) => Promise<Response>;
  maxReconnects: number;
  /** How long to wait before the nth attempt in a row, in milliseconds. */
  reconnectDelayMs: (attempt: number) => number;
  /** Whether a stream that was to go on may begin anew, with `start`. Is asked when the first chunk is wanted. */
  mayRestart: () => boolean;
  /** The stream broke off for good, and the reader has a part of the message. */
  onCut: (cursor: ChatCursor) => void;
  /** The message is over, or nobody reads any more. */
  onOver: (reason?: unknown) => void;
}

/** Of a status that says: not now. */
const isPassing = (status: number): boolean => status >= 500 || status === 408 || status === 425 || status === 429;

/** How a chat recognises that it may go on later: by the type of the error, and by a word in it. */
function networkError(why: string, cause?: unknown): TypeError {
  return new TypeError(`network error: ${why}`, cause === undefined ? undefined : { cause });
}

/**
 * The chunks of a response, and of those after it: where one breaks off, the next begins behind the last chunk that was
 * read, and the reader does not notice. A message is over with `finish`, `abort` or `error`, and only then; if it cannot be
 * brought to that, the stream errors as the network does, after everything that came.
 */
export function resumableChunks<Version extends UIMessageVersion>(
  first: Response,
  options: ResumableChunksOptions<Version>,
): ReadableStream<UIMessageChunkOf<Version>> {
  const { version, signal, reconnect, maxReconnects, reconnectDelayMs, mayRestart, mayBegin, onCut, onOver } = options;
  let { run, after } = options.cursor ?? { run: undefined, after: undefined };
  let hasRead = options.cursor !== undefined;
  let emit: Emit<UIMessageChunkOf<Version>>;
  let reader: ReadableStreamDefaultReader<Uint8Array>;
  let parser: UIMessageSSEParser;
  let isFinished = false;
  let isOver = false;
  let attempts = 0;
  /** The response's first chunk has not come yet. */
  let isFresh = true;
  /** Of the response's last chunk: what comes again behind it, as on a wire that stutters, has been told. */
  let place: RunCursor | undefined;
  /** What is wrong with the response, told when its good chunks have been read. */
  let broken: Error | undefined;

  const onChunk = (chunk: UIMessageChunkOf<Version>, id: string | undefined): void => {
    if (isFinished || broken !== undefined) return;
    const at = id === undefined ? undefined : parseRunCursor(id);
    if (at && place && !isBehind(at, place)) return;
    place = at ?? place;
    const isRestart = isFresh && chunk.type === 'start' && hasRead;
    isFresh = false;
    if (isRestart && !mayRestart()) {
      after = undefined;
      broken = networkError('the server has begun the message anew, and this chat cannot. Reload the page.');
      return;
    }
    attempts = 0;
    hasRead = true;
    if (id !== undefined) after = id;
    if (chunk.type === 'start') run ??= runOf(chunk.messageMetadata);
    isFinished = chunk.type === 'finish' || chunk.type === 'abort' || chunk.type === 'error';
    emit(chunk);
  };

  const open = (response: Response): void => {
    run = readRunHeaders(response).runId ?? run;
    isFresh = true;
    place = undefined;
    reader = (response.body ?? new Blob([]).stream()).getReader();
    parser = createUIMessageSSEParser<Version>({
      version,
      onChunk,
      onError: (error: UIMessageSSEError) => {
        // An event that was cut off comes again; what is no chunk would come again too.
        if (!isFinished && error.type !== 'incomplete') broken ??= error;
      },
    });
  };

  /** A fetch of somebody else's may not do it by itself. */
  const onAbort = (): void => void reader.cancel(signal.reason).catch(() => undefined);

  const leave = (reason?: unknown): void => {
    if (isOver) return;
    isOver = true;
    signal.removeEventListener('abort', onAbort);
    onOver(reason);
    reader.cancel(reason).catch(() => undefined);
  };

  const goOn = async (cause: unknown): Promise<void> => {
    const hasPlace = after !== undefined || (mayBegin && !hasRead);
    if (!hasPlace || run === undefined) {
      throw networkError('the stream broke off before its end, and the server gave no place to go on.', cause);
    }
    for (let last = cause; ;) {
      if (attempts >= maxReconnects) {
        throw networkError(`the stream broke off, and ${attempts} attempts to go on have failed.`, last);
      }
      attempts += 1;
      await pause(reconnectDelayMs(attempts), signal);
      try {
        const response = await reconnect({ run, after });
        if (response.status === 204) throw networkError('the stream broke off, and the server has no more of it.');
        if (response.ok) return open(response);
        const said = await response.text();
        last = new Error(`The server refused to go on with the stream (${response.status}). ${said}`.trim());
        if (!isPassing(response.status)) throw last;
      } catch (error) {
        const isUnreached = error instanceof TypeError && !error.message.startsWith('network error:');
        if (!isUnreached) throw error;
        last = error;
      }
    }
  };

  const readOn = async (): Promise<void> => {
    let cause: unknown;
    try {
      const { done, value } = await reader.read();
      if (!done) return parser.feed(value);
      parser.end();
    } catch (error) {
      cause = error;
    }
    signal.throwIfAborted();
    if (!isOver && !isFinished && broken === undefined) await goOn(cause);
  };

  open(first);
  signal.addEventListener('abort', onAbort);
  return pullStream({
    start: (own) => void (emit = own),
    async pull() {
      try {
        // Thrown only now that all valid chunks have been read: an error drops unread chunks.
        if (broken !== undefined) throw broken;
        if (!isFinished) await readOn();
        else leave();
      } catch (error) {
        if (!isOver && error instanceof TypeError && hasRead) onCut({ run, after });
        throw error;
      }
      return !isOver;
    },
    cancel: leave,
  });
}

/** A page of another origin may not see the header; the message itself says it too. */
function runOf(messageMetadata: unknown): string | undefined {
  return asNonEmptyText(asFields(asFields(messageMetadata)[metadataKey]).runId);
}
