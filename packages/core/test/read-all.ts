import { iterate } from '../src/stream/iterate.ts';

/** Reads a stream to its end. */
export async function readAll<Item>(stream: ReadableStream<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of iterate(stream)) items.push(item);
  return items;
}
