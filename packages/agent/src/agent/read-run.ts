import type { AgentEvent, Emit } from '@intertie/core';
import { pullStream, type Followed } from '@intertie/core/internal';

/** Encodes one event. */
export type Feed<Out> = (event: AgentEvent, emit: Emit<Out>) => void;

/**
 * Encodes a followed run with `feed`. `fromMessage` supplies the events if the log was deleted. Uses one stream instead of a
 * pipe, which costs more per event than encoding it.
 */
export function readRun<Out>(
  followed: ReadableStream<Followed>,
  fromMessage: () => Promise<readonly AgentEvent[]>,
  feed: Feed<Out>,
  end: (emit: Emit<Out>) => void = () => undefined,
): ReadableStream<Out> {
  const reader = followed.getReader();
  return pullStream({
    async pull(emit) {
      const { done, value } = await reader.read();
      if (done) {
        end(emit);
        return false;
      }
      const events = value.type === 'dropped' ? await fromMessage() : getEvents(value);
      for (const event of events) if (event.type !== 'checkpoint') feed(event, emit);
      return true;
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

function getEvents(item: Exclude<Followed, { type: 'dropped' }>): readonly AgentEvent[] {
  if (item.type === 'events') return item.events;
  return item.type === 'ended' ? [item.event] : [];
}
