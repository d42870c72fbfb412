import { iterate } from '@intertie/core';

/** A stream that can also be looped over, on every platform. */
export type IterableStream<Item> = ReadableStream<Item> & AsyncIterable<Item>;

export function iterable<Item>(stream: ReadableStream<Item>): IterableStream<Item> {
  return Object.assign(stream, { [Symbol.asyncIterator]: () => iterate(stream) });
}
