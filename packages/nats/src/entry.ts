import type { AgentEvent } from '@intertie/core';
import type { LogBatch } from '@intertie/core/store';
import { toLogText } from '@intertie/core/store';

/**
 * One message of a run's subject: a batch of `n` events whose first has the number `seq`, or a marker without events that fences
 * earlier epochs. A batch that exceeds the maximum payload of the server is several messages, and counts when its last one is stored.
 */
export type Entry = {
  epoch: number;
  seq: number;
  n: number;
  /** Epoch that wrote the event before `seq`; 0 if there is none. Shows whether a cursor at the end of a batch is valid. */
  before: number;
  /** Set on the last entry of a log that accepts no more events. */
  end?: 'closed' | 'dropped';
  events?: AgentEvent[];
  /** Piece of the events' JSON text. Only the last piece has `parts`, the number of pieces, and a positive `n`. */
  part?: string;
  parts?: number;
};

/** Entry with its stream sequence. */
export type StoredEntry = Entry & { at: number };

/** State of a run's log after an entry. `at` is its stream sequence, 0 for an empty log; `last` the epoch of the last event. */
export type Head = { at: number; epoch: number; next: number; last: number; end?: 'closed' | 'dropped' };

export const emptyHead: Head = { at: 0, epoch: 0, next: 1, last: 0 };

export function toHead({ at, epoch, seq, n, before, end }: StoredEntry): Head {
  return { at, epoch, next: seq + n, last: n > 0 ? epoch : before, ...(end && { end }) };
}

/** Whether this is a piece of a batch other than the last. */
export function isPiece({ part, n }: Entry): boolean {
  return part !== undefined && n === 0;
}

/** Maximum bytes of the fields other than the events. */
const maxEnvelopeBytes = 256;
/** A UTF-16 code unit of JSON text has at most three bytes of UTF-8 after it is escaped again. */
const maxBytesPerUnit = 3;

export type EntryFields = Pick<LogBatch, 'epoch' | 'seq' | 'events'> & Pick<Entry, 'before' | 'end'>;

/** Encodes an entry as one message, or as several if it exceeds `maxBytes`. */
export function encodeEntry({ events, ...fields }: EntryFields, maxBytes: number): string[] {
  const entry = { ...fields, n: events.length };
  if (events.length === 0) return [JSON.stringify(entry)];
  const text = toLogText(events);
  const room = maxBytes - maxEnvelopeBytes;
  if (Buffer.byteLength(text) <= room) return [`${JSON.stringify(entry).slice(0, -1)},"events":${text}}`];
  const size = Math.floor(room / maxBytesPerUnit);
  const parts = Array.from({ length: Math.ceil(text.length / size) }, (_, n) => text.slice(n * size, (n + 1) * size));
  const { end: _, ...open } = entry;
  return parts.map((part, index) =>
    JSON.stringify(index + 1 < parts.length ? { ...open, n: 0, part } : { ...entry, part, parts: parts.length }),
  );
}

/** Decodes the message of a stream sequence. Throws if another program wrote it. */
export function decodeEntry(text: string, at: number): StoredEntry {
  let value: Partial<Entry> | null = null;
  try {
    value = JSON.parse(text) as Partial<Entry> | null;
  } catch {
    // Reported below.
  }
  const isEntry = [value?.epoch, value?.seq, value?.n, value?.before].every(Number.isInteger);
  if (!isEntry) throw new Error(`The message ${at} is not an entry of a run log. Let no other program write to it.`);
  return { ...(value as Entry), at };
}

/** Restores the events of consecutive entries. Pieces of a batch that was never completed are ignored. */
export function joinParts(entries: readonly StoredEntry[]): StoredEntry[] {
  let pieces: string[] = [];
  return entries.flatMap((entry) => {
    if (entry.part === undefined) pieces = [];
    else pieces.push(entry.part);
    if (entry.n === 0) return [];
    if (entry.parts === undefined) return [entry];
    const text = pieces.slice(-entry.parts).join('');
    return [{ ...entry, events: JSON.parse(text) as AgentEvent[] }];
  });
}
