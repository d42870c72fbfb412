import type { LogPosition } from '@intertie/core/store';

/** Position in an encoded log: the `k`-th output (from 0) of the encoder for the event at `position`. */
export type RunCursor = { encoder: string; position: LogPosition; k: number };

/** Formats a cursor as an SSE id: `encoder~epoch.seq.k`. */
export function formatRunCursor(encoder: string, { epoch, seq }: LogPosition, k: number): string {
  return `${encoder}~${epoch}.${seq}.${k}`;
}

/** Parses a cursor, which a client may have sent. Undefined: it is invalid. */
export function parseRunCursor(text: string): RunCursor | undefined {
  const [, encoder, epoch, seq, k] = /^([^\n]*)~(\d{1,15})\.(\d{1,15})\.(\d{1,15})$/.exec(text) ?? [];
  if (encoder === undefined) return undefined;
  return { encoder, position: { epoch: Number(epoch), seq: Number(seq) }, k: Number(k) };
}

/** Whether a cursor is after another one of the same encoder. */
export function isAfter(cursor: RunCursor, other: RunCursor): boolean {
  const { position: a } = cursor;
  const { position: b } = other;
  if (a.epoch !== b.epoch) return a.epoch > b.epoch;
  return a.seq === b.seq ? cursor.k > other.k : a.seq > b.seq;
}
