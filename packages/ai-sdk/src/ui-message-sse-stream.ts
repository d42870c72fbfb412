import type { UIMessageChunk, UIMessageChunkOf, UIMessageVersion } from './ui-message-chunk.ts';
import { createUIMessageSSEParser, doneFrame, toUIMessageFrame } from './ui-message-sse.ts';
import { writeSSE } from './write-sse.ts';

export interface ReadUIMessageSSEOptions<Version extends UIMessageVersion = UIMessageVersion> {
  /** Which chunks are taken. Default: 6. */
  version?: Version;
  /** How much of one event is held, in characters. */
  maxEventSize?: number;
}

/**
 * The bytes of a UI message stream as validated chunks, read on demand. A chunk that is none, or an event that was cut off,
 * errors the stream with a `UIMessageSSEError`, after the chunks before it; that the message itself was cut off (no
 * `finish`) is the reader's to see.
 *
 * One stream and no pipes: each hop of a pipe costs more than reading the chunk.
 */
export function readUIMessageSSE<Version extends UIMessageVersion = 6>(
  bytes: ReadableStream<Uint8Array>,
  options: ReadUIMessageSSEOptions<Version> = {},
): ReadableStream<UIMessageChunkOf<Version>> {
  const reader = bytes.getReader();
  let isEmpty = true;
  let error: Error | undefined;
  let controller: ReadableStreamDefaultController<UIMessageChunkOf<Version>>;
  const parser = createUIMessageSSEParser<Version>({
    ...options,
    onChunk: (chunk) => {
      if (error !== undefined) return;
      isEmpty = false;
      controller.enqueue(chunk);
    },
    onError: (found) => void (error ??= found),
  });
  // Only while nothing is queued: an error drops what nobody has read yet.
  const fail = (cause: Error): void => {
    controller.error(cause);
    void reader.cancel(cause).catch(() => undefined);
  };

  const take = ({ done, value }: ReadableStreamReadResult<Uint8Array>): Promise<void> | void => {
    if (!done) {
      parser.feed(value);
      return isEmpty ? readOn() : undefined;
    }
    parser.end();
    if (error !== undefined) fail(error);
    else controller.close();
  };
  const readOn = (): Promise<void> | void => (error === undefined ? reader.read().then(take) : fail(error));

  return new ReadableStream(
    {
      start: (own) => void (controller = own),
      pull: () => {
        isEmpty = true;
        return readOn();
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

export interface WriteUIMessageSSEOptions<Chunk extends UIMessageChunk = UIMessageChunk> {
  /** After how long a silence a comment is written. Default: never. */
  keepAliveMs?: number;
  /** The id of each event, where the reader may resume from it. */
  idOf?: (chunk: Chunk) => string | undefined;
}

/** Chunks as the bytes of a UI message stream, read on demand, with `[DONE]` at the end. */
export function writeUIMessageSSE<Chunk extends UIMessageChunk>(
  chunks: ReadableStream<Chunk>,
  { keepAliveMs, idOf }: WriteUIMessageSSEOptions<Chunk> = {},
): ReadableStream<Uint8Array> {
  const reader = chunks.getReader();
  return writeSSE({
    keepAliveMs,
    read: async () => {
      const { done, value } = await reader.read();
      return { frames: done ? doneFrame : toUIMessageFrame(value, idOf?.(value)), isLast: done };
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** The same for `pipeThrough`. One stream more than `writeUIMessageSSE`, whose timer a platform always stops. */
export function createUIMessageSSEStream<Chunk extends UIMessageChunk = UIMessageChunk>(
  options?: WriteUIMessageSSEOptions<Chunk>,
): ReadableWritablePair<Uint8Array, Chunk> {
  const { readable, writable } = new TransformStream<Chunk, Chunk>();
  return { readable: writeUIMessageSSE(readable, options), writable };
}
