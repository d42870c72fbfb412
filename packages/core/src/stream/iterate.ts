/**
 * Any readable stream as an async iterable, also where the platform's streams are none. Leaving the loop cancels the
 * stream, also while a read is under way, for which an async generator would wait.
 */
export function iterate<Item>(stream: ReadableStream<Item>): AsyncIterableIterator<Item> {
  const reader = stream.getReader();
  let over = false;
  const leave = (): { done: true; value: undefined } => {
    over = true;
    reader.releaseLock();
    return { done: true, value: undefined };
  };
  return {
    async next() {
      if (over) return { done: true, value: undefined };
      try {
        const result = await reader.read();
        return result.done ? leave() : result;
      } catch (error) {
        leave();
        throw error;
      }
    },
    async return(reason?: unknown) {
      if (over) return { done: true, value: undefined };
      over = true;
      await reader.cancel(reason);
      return leave();
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
