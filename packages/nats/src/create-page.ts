import type { AgentEvent } from '@intertie/core';
import type { LogPage, LogPosition } from '@intertie/core/store';

import { joinParts, type Head, type StoredEntry } from './entry.ts';

const beginning: LogPosition = { epoch: 0, seq: 0 };

export function createInvalidPage(tail: number): LogPage {
  return { events: [], position: beginning, tail, valid: false, dropped: false };
}

/** Page of a log that was dropped, or whose first messages have expired. */
export function createDroppedPage(after: LogPosition, tail: number): LogPage {
  return { events: [], position: { ...after }, tail, valid: false, dropped: true };
}

/** Creates the page after a position from consecutive entries, the first of which has an event at or right after the position. */
export function createPage(entries: readonly StoredEntry[], after: LogPosition, limit: number, head: Head): LogPage {
  const tail = head.next - 1;
  const batches = joinParts(entries).filter(({ seq, n }) => seq + n > after.seq);
  const [first] = batches;
  const isExpired = first ? first.seq > after.seq + 1 : after.seq < tail;
  if (isExpired) return createDroppedPage(after, tail);
  if (!isValid(after, first, head)) return createInvalidPage(tail);
  const events: AgentEvent[] = [];
  let position: LogPosition = { ...after };
  for (const { epoch, seq, events: batch = [] } of batches) {
    const skipped = position.seq + 1 - seq;
    if (skipped >= batch.length) continue;
    if (skipped < 0 || events.length >= limit || (events.length > 0 && epoch !== position.epoch)) break;
    const given = batch.slice(skipped, skipped + limit - events.length);
    for (const event of given) events.push(event);
    position = { epoch, seq: position.seq + given.length };
  }
  // The entries may be newer than the head.
  return { events, position, tail: Math.max(tail, position.seq), valid: true, dropped: false };
}

/** Whether the event at the position was written by the epoch of the position. */
function isValid(after: LogPosition, first: StoredEntry | undefined, head: Head): boolean {
  if (after.seq === 0) return true;
  if (!first) return after.seq === head.next - 1 && after.epoch === head.last;
  return after.epoch === (first.seq <= after.seq ? first.epoch : first.before);
}
