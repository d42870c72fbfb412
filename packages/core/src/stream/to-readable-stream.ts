import { pullStream } from './pull-stream.ts';

/** Creates a stream that reads an iterable on demand. Cancelling the stream closes the iterator. */
export function toReadableStream<Item>(iterable: AsyncIterable<Item> | Iterable<Item>): ReadableStream<Item> {
  const iterator = Symbol.asyncIterator in iterable ? iterable[Symbol.asyncIterator]() : iterable[Symbol.iterator]();
  return pullStream({
    async pull(emit) {
      const { done, value } = await iterator.next();
      if (!done) emit(value);
      return !done;
    },
    cancel: (reason) => iterator.return?.(reason),
  });
}
