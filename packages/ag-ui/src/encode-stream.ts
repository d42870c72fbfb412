import { toFault, type AgentEvent, type Codec, type Fault } from '@intertie/core';
import type { AGUIEvent } from './ag-ui-event.ts';

/**
 * Canonical events through an encoder, read on demand: nothing is pulled that nobody reads. The stream never errors; it ends
 * after the terminal event, and who leaves it cancels the run.
 */
export function encodeStream(
  events: ReadableStream<AgentEvent>,
  encoder: Codec<AgentEvent, AGUIEvent>,
  onLeave?: (reason: unknown) => void,
): ReadableStream<AGUIEvent> {
  const reader = events.getReader();
  let controller: ReadableStreamDefaultController<AGUIEvent>;
  let isEmpty = true;
  let isOver = false;

  const emit = (event: AGUIEvent): void => {
    isEmpty = false;
    controller.enqueue(event);
  };
  const finish = (error?: Fault): void => {
    if (isOver) return;
    isOver = true;
    encoder.end(error ? { reason: 'error', error } : { reason: 'eof' }, emit);
    controller.close();
  };
  const readOne = async (): Promise<void> => {
    try {
      const { done, value } = await reader.read();
      if (isOver) return;
      if (done) return finish();
      encoder.feed(value, emit);
    } catch (error) {
      finish(toFault(error, 'ADAPTER_ERROR'));
      reader.cancel(error).catch(() => undefined);
    }
  };

  const isHungry = (): boolean => isEmpty && !isOver;

  return new ReadableStream<AGUIEvent>(
    {
      start: (own) => void (controller = own),
      async pull() {
        isEmpty = true;
        // oxlint-disable-next-line no-await-in-loop -- one event at a time is what back-pressure means
        while (isHungry()) await readOne();
      },
      cancel(reason) {
        isOver = true;
        onLeave?.(reason);
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
