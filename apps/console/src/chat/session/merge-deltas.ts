import type { UIMessageChunk } from 'ai';

/** Interval at which the chat renders. */
const renderIntervalMs = 40;

type Chunks = ReadableStream<UIMessageChunk>;

/**
 * Merges deltas of the same part that arrive faster than the chat renders: `Chat` copies its whole message for every chunk. The
 * first delta passes immediately, and the order of all other chunks is preserved.
 */
export function mergeDeltas(chunks: Chunks, ms: number = renderIntervalMs): Chunks {
  const reader = chunks.getReader();
  const held = new Map<string, UIMessageChunk>();
  let reading: ReturnType<typeof reader.read> | undefined;
  /** Closes or fails the output; called when all held chunks have been read. */
  let end: (() => void) | undefined;
  let flushAt = 0;

  /** Returns the next chunk, or undefined if the held chunks are due first. */
  const next = async (): Promise<Awaited<ReturnType<typeof reader.read>> | undefined> => {
    reading ??= reader.read();
    const read = held.size === 0 ? await reading : await Promise.race([reading, delay(flushAt - performance.now())]);
    if (read !== undefined) reading = undefined;
    return read;
  };

  /** Returns the chunks to emit now. Empty only at the end of the input. */
  const collect = async (): Promise<UIMessageChunk[]> => {
    for (;;) {
      const read = await next();
      if (read === undefined || read.done) {
        if (read?.done) end = () => controller.close();
        return takeHeld();
      }
      const { value: chunk } = read;
      const key = getMergeKey(chunk);
      if (key === undefined || performance.now() >= flushAt) return [...takeHeld(), chunk];
      held.set(key, concatDelta(held.get(key), chunk));
    }
  };

  const takeHeld = (): UIMessageChunk[] => {
    const taken = [...held.values()];
    held.clear();
    return taken;
  };

  let controller: ReadableStreamDefaultController<UIMessageChunk>;
  return new ReadableStream(
    {
      start(own) {
        controller = own;
      },
      async pull() {
        let ready: UIMessageChunk[] = [];
        try {
          if (end === undefined) ready = await collect();
        } catch (error) {
          end = () => controller.error(error);
          ready = takeHeld();
        }
        for (const chunk of ready) controller.enqueue(chunk);
        flushAt = performance.now() + ms;
        if (ready.length === 0) end?.();
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** Identifies the part that a delta extends. Undefined for chunks that cannot be merged. */
function getMergeKey(chunk: UIMessageChunk): string | undefined {
  switch (chunk.type) {
    case 'text-delta':
    case 'reasoning-delta':
      return chunk.providerMetadata === undefined ? `${chunk.type} ${chunk.id}` : undefined;
    case 'tool-input-delta':
      return `${chunk.type} ${chunk.toolCallId}`;
    default:
      return undefined;
  }
}

function concatDelta(before: UIMessageChunk | undefined, chunk: UIMessageChunk): UIMessageChunk {
  if (before?.type === 'tool-input-delta' && chunk.type === 'tool-input-delta') {
    return { ...chunk, inputTextDelta: before.inputTextDelta + chunk.inputTextDelta };
  }
  const isText = before?.type === 'text-delta' || before?.type === 'reasoning-delta';
  if (isText && chunk.type === before.type) return { ...chunk, delta: before.delta + chunk.delta };
  return chunk;
}

function delay(ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms, undefined);
  });
}
