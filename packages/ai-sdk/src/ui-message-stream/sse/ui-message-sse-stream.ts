import type { Emit } from '@intertie/core';
import { pullStream } from '@intertie/core/internal';
import type { UIMessageChunk, UIMessageChunkOf, UIMessageVersion } from '../chunk/ui-message-chunk.ts';
import { createUIMessageSSEParser, doneFrame, toUIMessageFrame } from './ui-message-sse.ts';
import { writeSSE } from './write-sse.ts';

export interface ReadUIMessageSSEOptions<Version extends UIMessageVersion = UIMessageVersion> {
  /** Major version of `ai` whose chunks are accepted. Default: 6. */
  version?: Version;
  /** Maximum size of one event in characters. Default: 32 million. */
  maxEventSize?: number;
}

/**
 * Decodes the bytes of a UI message stream to validated chunks. An invalid chunk or an incomplete event errors the stream with
 * a `UIMessageSSEError` after the chunks before it. A message without `finish` is not an error here: the reader must check.
 *
 * Uses one stream instead of a pipe, which costs more per chunk than decoding it.
 */
export function readUIMessageSSE<Version extends UIMessageVersion = 6>(
  bytes: ReadableStream<Uint8Array>,
  options: ReadUIMessageSSEOptions<Version> = {},
): ReadableStream<UIMessageChunkOf<Version>> {
  const reader = bytes.getReader();
  let error: Error | undefined;
  let emit: Emit<UIMessageChunkOf<Version>>;
  const parser = createUIMessageSSEParser<Version>({
    ...options,
    onChunk: (chunk) => {
      if (error === undefined) emit(chunk);
    },
    onError: (found) => void (error ??= found),
  });
  return pullStream({
    start: (own) => void (emit = own),
    async pull() {
      // Thrown only now that all valid chunks have been read: an error drops unread chunks.
      if (error !== undefined) throw error;
      const { done, value } = await reader.read();
      if (done) parser.end();
      else parser.feed(value);
      return !done || error !== undefined;
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

export interface WriteUIMessageSSEOptions<Chunk extends UIMessageChunk = UIMessageChunk> {
  /** Idle time after which a comment is written. Default: never. */
  keepAliveMs?: number;
  /** Returns the SSE id of a chunk, for readers that resume. */
  getId?: (chunk: Chunk) => string | undefined;
}

/** Encodes chunks as the bytes of a UI message stream, on demand, with `[DONE]` at the end. */
export function writeUIMessageSSE<Chunk extends UIMessageChunk>(
  chunks: ReadableStream<Chunk>,
  { keepAliveMs, getId }: WriteUIMessageSSEOptions<Chunk> = {},
): ReadableStream<Uint8Array> {
  const reader = chunks.getReader();
  return writeSSE({
    keepAliveMs,
    read: async () => {
      const { done, value } = await reader.read();
      return { frames: done ? doneFrame : toUIMessageFrame(value, getId?.(value)), isLast: done };
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** Like `writeUIMessageSSE`, for `pipeThrough`. Prefer that function: it needs one stream less, and platforms always stop its timer. */
export function createUIMessageSSEStream<Chunk extends UIMessageChunk = UIMessageChunk>(
  options?: WriteUIMessageSSEOptions<Chunk>,
): ReadableWritablePair<Uint8Array, Chunk> {
  const { readable, writable } = new TransformStream<Chunk, Chunk>();
  return { readable: writeUIMessageSSE(readable, options), writable };
}
