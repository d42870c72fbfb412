import type { Fault } from '@intertie/core';
import type { AGUIEvent } from './ag-ui-event.ts';
import { slotKey } from './intertie-slot.ts';
import { fieldsOf, isFields } from './read-fields.ts';

/** The events with the words that the server chooses for an error, in both places where it is said. */
export function withFaultText(
  events: ReadableStream<AGUIEvent>,
  errorText: ((error: Fault) => string) | undefined,
): ReadableStream<AGUIEvent> {
  if (errorText === undefined) return events;
  const reader = events.getReader();
  return new ReadableStream<AGUIEvent>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value.type === 'RUN_ERROR' ? reworded(value, errorText) : value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

function reworded(event: Extract<AGUIEvent, { type: 'RUN_ERROR' }>, errorText: (error: Fault) => string): AGUIEvent {
  const kept = fieldsOf(fieldsOf(event.metadata)[slotKey]);
  const ended = fieldsOf(kept.ended);
  const said: Fault = { message: event.message, ...(event.code !== undefined && { code: event.code }) };
  const message = errorText(isFields(ended.error) ? (ended.error as Fault) : said);
  const error = isFields(ended.error) ? { error: { ...ended.error, message } } : {};
  return { ...event, message, metadata: { ...event.metadata, [slotKey]: { ...kept, ended: { ...ended, ...error } } } };
}
