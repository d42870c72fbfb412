import type { JsonObject } from '../json/json.ts';
import type { OnLoss } from '../json/loss.ts';
import { pullStream } from '../stream/pull-stream.ts';
import { TAPE_VERSION, type Tape, type TapeItem } from './tape.ts';
import { toJson } from '../json/to-json.ts';

export interface RecordTapeOptions {
  /** The protocol of the items. */
  dialect: string;
  /** Milliseconds since 1970. */
  now?: () => number;
  /** Additional header fields. */
  header?: JsonObject;
  onLoss?: OnLoss;
}

/**
 * Returns the stream and a tape that grows while the stream is read. The tape ends where the reader cancels or the stream
 * fails.
 */
export function recordTape<Item>(
  stream: ReadableStream<Item>,
  { dialect, now = Date.now, header, onLoss }: RecordTapeOptions,
): { stream: ReadableStream<Item>; tape: Tape } {
  const createdAt = new Date(now()).toISOString();
  const tape: Tape = { header: { tape: TAPE_VERSION, dialect, createdAt, ...header }, items: [] };
  return { stream: timeItems(stream, (item) => tape.items.push(item), now, onLoss), tape };
}

/** Calls `onItem` with every item that is read from the stream and the time it was read at. */
export function timeItems<Item>(
  stream: ReadableStream<Item>,
  onItem: (item: TapeItem) => void,
  now: () => number = Date.now,
  onLoss?: OnLoss,
): ReadableStream<Item> {
  const startedAt = now();
  let last = 0;
  const reader = stream.getReader();
  return pullStream({
    async pull(emit) {
      const { done, value } = await reader.read();
      if (done) return false;
      // The clock can go back. Times on a tape never decrease.
      last = Math.max(last, now() - startedAt);
      onItem({ t: last, item: toJson(value, onLoss) });
      emit(value);
      return true;
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
