import type { UIMessageChunk } from 'ai';

/** As often as words are shown. */
const shownMs = 40;

type Chunks = ReadableStream<UIMessageChunk>;

/**
 * The chunks of an answer, where those that only add to a part are put together as long as they come faster than they are shown:
 * a chat takes its whole message anew for every chunk. The first one passes at once, and all else stays in its order.
 */
export function mergeDeltas(chunks: Chunks, ms: number = shownMs): Chunks {
  const reader = chunks.getReader();
  const held = new Map<string, UIMessageChunk>();
  let reading: ReturnType<typeof reader.read> | undefined;
  /** How it ended, told when all that came before has been read. */
  let end: (() => void) | undefined;
  let nextAt = 0;

  /** The next chunk, or nothing if what is held has been held for long enough. */
  const next = async (): Promise<Awaited<ReturnType<typeof reader.read>> | undefined> => {
    reading ??= reader.read();
    const read = held.size === 0 ? await reading : await Promise.race([reading, rest(nextAt - performance.now())]);
    if (read !== undefined) reading = undefined;
    return read;
  };

  /** What is to be told now: never nothing, unless it has ended. */
  const gather = async (): Promise<UIMessageChunk[]> => {
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- one chunk after the other
      const read = await next();
      if (read === undefined || read.done) {
        if (read?.done) end = () => controller.close();
        return take();
      }
      const { value: chunk } = read;
      const key = keyOf(chunk);
      if (key === undefined || performance.now() >= nextAt) return [...take(), chunk];
      held.set(key, joined(held.get(key), chunk));
    }
  };

  const take = (): UIMessageChunk[] => {
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
        let told: UIMessageChunk[] = [];
        try {
          if (end === undefined) told = await gather();
        } catch (error) {
          end = () => controller.error(error);
          told = take();
        }
        for (const chunk of told) controller.enqueue(chunk);
        nextAt = performance.now() + ms;
        if (told.length === 0) end?.();
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** The part that a chunk only adds to. */
function keyOf(chunk: UIMessageChunk): string | undefined {
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

function joined(before: UIMessageChunk | undefined, chunk: UIMessageChunk): UIMessageChunk {
  if (before?.type === 'tool-input-delta' && chunk.type === 'tool-input-delta') {
    return { ...chunk, inputTextDelta: before.inputTextDelta + chunk.inputTextDelta };
  }
  const isText = before?.type === 'text-delta' || before?.type === 'reasoning-delta';
  if (isText && chunk.type === before.type) return { ...chunk, delta: before.delta + chunk.delta };
  return chunk;
}

function rest(ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms, undefined);
  });
}
