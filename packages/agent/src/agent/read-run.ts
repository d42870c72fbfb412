import type { AgentEvent, Emit, Followed } from '@intertie/core';

/** What a reader makes of each event. */
export type Feed<Out> = (event: AgentEvent, emit: Emit<Out>) => void;

/**
 * A followed run as whatever its reader makes of it. One stream and no pipes: a hop costs more than encoding an event.
 * `fromMessage` is asked where the log is gone.
 */
export function readRun<Out>(
  followed: ReadableStream<Followed>,
  fromMessage: () => Promise<readonly AgentEvent[]>,
  feed: Feed<Out>,
  end: (emit: Emit<Out>) => void = () => undefined,
): ReadableStream<Out> {
  const reader = followed.getReader();
  const next = async (controller: ReadableStreamDefaultController<Out>): Promise<void> => {
    let isEmpty = true;
    const emit = (out: Out): void => {
      isEmpty = false;
      controller.enqueue(out);
    };
    const { done, value } = await reader.read();
    if (done) {
      end(emit);
      return controller.close();
    }
    try {
      const events = value.type === 'dropped' ? await fromMessage() : eventsIn(value);
      for (const event of events) feed(event, emit);
    } catch (error) {
      // A stream that fails is not cancelled by whoever reads it.
      void reader.cancel(error).catch(() => undefined);
      throw error;
    }
    return isEmpty ? next(controller) : undefined;
  };
  return new ReadableStream<Out>({ pull: next, cancel: (reason) => reader.cancel(reason) }, { highWaterMark: 0 });
}

function eventsIn(item: Exclude<Followed, { type: 'dropped' }>): readonly AgentEvent[] {
  if (item.type === 'events') return item.events;
  return item.type === 'ended' ? [item.event] : [];
}
