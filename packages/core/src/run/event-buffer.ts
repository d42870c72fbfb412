import { coalesce } from '../codec/coalesce.ts';
import type { AgentEvent } from '../event/event.ts';

export interface EventBuffer {
  /** How many bytes are held, about. */
  readonly bytes: number;
  /** How many events there are to take; deltas that are still being merged are not among them. */
  readonly length: number;
  push(event: AgentEvent): void;
  /** Ends the merging of deltas: whatever was pushed can be taken. */
  settle(): void;
  /** The oldest events, as many as fit into so many bytes, but at least one. */
  take(maxBytes: number): { events: AgentEvent[]; bytes: number };
}

/** Events that wait to be written. Adjacent deltas of one part become one, before anything has a number. */
export function createEventBuffer(): EventBuffer {
  const codec = coalesce();
  let events: AgentEvent[] = [];
  let sizes: number[] = [];
  let bytes = 0;
  /** Of the deltas that the codec holds. */
  let held = 0;

  const add = (event: AgentEvent, size: number): void => {
    events.push(event);
    sizes.push(size);
  };
  const settle = (): void =>
    codec.flush?.((event) => {
      add(event, held);
      held = 0;
    });

  return {
    get bytes() {
      return bytes;
    },
    get length() {
      return events.length;
    },
    push(event) {
      const size = sizeOf(event);
      bytes += size;
      let isHeld = true;
      codec.feed(event, (out) => {
        if (out === event) {
          isHeld = false;
          add(out, size);
        } else {
          add(out, held);
          held = 0;
        }
      });
      if (isHeld) held += size;
    },
    settle,
    take(maxBytes) {
      settle();
      let count = 0;
      let taken = 0;
      while (count < events.length && (count === 0 || taken + sizes[count]! <= maxBytes)) taken += sizes[count++]!;
      const given = events.slice(0, count);
      events = events.slice(count);
      sizes = sizes.slice(count);
      bytes -= taken;
      return { events: given, bytes: taken };
    },
  };
}

/** What the event is as JSON, about: exact for all but deltas, which are too many to be written twice. */
function sizeOf(event: AgentEvent): number {
  return 'delta' in event ? event.delta.length + 80 : JSON.stringify(event).length;
}
