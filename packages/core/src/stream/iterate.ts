/**
 * Iterates a readable stream, also on platforms whose streams are not async iterable. Leaving the loop cancels the stream
 * immediately; an async generator would first wait for a pending read.
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
