import { coalesce } from '../codec/coalesce.ts';
import type { AgentEvent } from '../event/event.ts';

export interface EventBuffer {
  /** Approximate size of the buffered events. */
  readonly bytes: number;
  /** Number of events that can be taken, without deltas that are still being merged. */
  readonly length: number;
  push(event: AgentEvent): void;
  /** Ends the merging of deltas, so that all pushed events can be taken. */
  settle(): void;
  /** Removes the oldest events, as many as fit into `maxBytes`, but at least one. */
  takeBatch(maxBytes: number): { events: AgentEvent[]; bytes: number };
}

/** Buffers events to be written. Adjacent deltas of one part are merged before events are numbered. */
export function createEventBuffer(): EventBuffer {
  const codec = coalesce();
  let events: AgentEvent[] = [];
  let sizes: number[] = [];
  let bytes = 0;
  /** Size of the deltas that the codec is merging. */
  let heldBytes = 0;

  const add = (event: AgentEvent, size: number): void => {
    events.push(event);
    sizes.push(size);
  };
  const settle = (): void =>
    codec.flush?.((event) => {
      add(event, heldBytes);
      heldBytes = 0;
    });

  return {
    get bytes() {
      return bytes;
    },
    get length() {
      return events.length;
    },
    push(event) {
      const size = estimateBytes(event);
      bytes += size;
      let isHeld = true;
      codec.feed(event, (out) => {
        if (out === event) {
          isHeld = false;
          add(out, size);
        } else {
          add(out, heldBytes);
          heldBytes = 0;
        }
      });
      if (isHeld) heldBytes += size;
    },
    settle,
    takeBatch(maxBytes) {
      settle();
      let count = 0;
      let takenBytes = 0;
      while (count < events.length && (count === 0 || takenBytes + sizes[count]! <= maxBytes))
        takenBytes += sizes[count++]!;
      const batch = events.slice(0, count);
      events = events.slice(count);
      sizes = sizes.slice(count);
      bytes -= takenBytes;
      return { events: batch, bytes: takenBytes };
    },
  };
}

/** Estimates the size as JSON. Exact except for deltas, which are too frequent to be serialized twice. */
function estimateBytes(event: AgentEvent): number {
  return 'delta' in event ? event.delta.length + 80 : JSON.stringify(event).length;
}
