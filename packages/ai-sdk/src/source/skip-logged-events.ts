import type { AgentEvent, Codec } from '@intertie/core';
import { omit } from '../shared/read-fields.ts';

/**
 * Creates a codec that drops the events of a log from a replay of the same run, so that the rest continues the log. Deltas are
 * compared by length, because the log joins them; all other events by value.
 */
export function skipLoggedEvents(log: readonly AgentEvent[]): Codec<AgentEvent, AgentEvent> {
  const lengths = new Map<string, number>();
  const counts = new Map<string, number>();
  for (const event of log) {
    const delta = readDelta(event);
    if (delta) lengths.set(delta.id, (lengths.get(delta.id) ?? 0) + delta.text.length);
    else add(counts, toKey(event), 1);
  }
  return {
    feed(event, emit) {
      const delta = readDelta(event);
      if (delta) {
        const logged = Math.min(lengths.get(delta.id) ?? 0, delta.text.length);
        lengths.set(delta.id, (lengths.get(delta.id) ?? 0) - logged);
        if (logged < delta.text.length) emit({ ...event, delta: delta.text.slice(logged) } as AgentEvent);
      } else if ((counts.get(toKey(event)) ?? 0) > 0) add(counts, toKey(event), -1);
      else emit(event);
    },
    end() {},
  };
}

function readDelta(event: AgentEvent): { id: string; text: string } | undefined {
  switch (event.type) {
    case 'text-delta':
    case 'reasoning-delta':
      return { id: event.id, text: event.delta };
    case 'tool-input-delta':
      return { id: event.toolCallId, text: event.delta };
    default:
      return undefined;
  }
}

function toKey(event: AgentEvent): string {
  return JSON.stringify(omit(event, 'at', 'origin'));
}

function add(counts: Map<string, number>, key: string, amount: number): void {
  counts.set(key, (counts.get(key) ?? 0) + amount);
}
