/** An iterable as a stream: it is asked for an item when the stream is, and told when the reader leaves. */
export function toReadableStream<Item>(iterable: AsyncIterable<Item> | Iterable<Item>): ReadableStream<Item> {
  const iterator = Symbol.asyncIterator in iterable ? iterable[Symbol.asyncIterator]() : iterable[Symbol.iterator]();
  return new ReadableStream<Item>(
    {
      async pull(controller) {
        const { done, value } = await iterator.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel(reason) {
        await iterator.return?.(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
