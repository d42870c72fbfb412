import type { JsonObject } from './json.ts';
import type { OnLoss } from './loss.ts';
import { TAPE_VERSION, type Tape, type TapeItem } from './tape.ts';
import { toJson } from './to-json.ts';

export interface RecordTapeOptions {
  /** The protocol of the items. */
  dialect: string;
  /** Milliseconds since 1970. */
  now?: () => number;
  /** More fields for the header. */
  header?: JsonObject;
  onLoss?: OnLoss;
}

/**
 * The stream, and a tape that grows as the stream is read. It neither reads ahead nor holds anything up, and ends where
 * the reader left or the stream failed.
 */
export function recordTape<Item>(
  stream: ReadableStream<Item>,
  { dialect, now = Date.now, header, onLoss }: RecordTapeOptions,
): { stream: ReadableStream<Item>; tape: Tape } {
  const createdAt = new Date(now()).toISOString();
  const tape: Tape = { header: { tape: TAPE_VERSION, dialect, createdAt, ...header }, items: [] };
  return { stream: timeItems(stream, (item) => tape.items.push(item), now, onLoss), tape };
}

/** The stream; every item that passes is told with its time, for a tape that is written while it is recorded. */
export function timeItems<Item>(
  stream: ReadableStream<Item>,
  onItem: (item: TapeItem) => void,
  now: () => number = Date.now,
  onLoss?: OnLoss,
): ReadableStream<Item> {
  const began = now();
  let last = 0;
  const reader = stream.getReader();
  return new ReadableStream<Item>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        // A clock may go back; a tape does not.
        last = Math.max(last, now() - began);
        onItem({ t: last, item: toJson(value, onLoss) });
        controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    // A TransformStream would read one item ahead, and so start a run that nobody reads yet.
    { highWaterMark: 0 },
  );
}
