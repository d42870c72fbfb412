import type { Fault } from '@intertie/core';
import type { AGUIEvent, AGUIEventOf } from './ag-ui-event.ts';
import { mapFeed, type EventFeed } from './event-feed.ts';
import { customNames, slotKey } from './intertie-slot.ts';
import { fieldsOf, isFields } from './read-fields.ts';

/** The events with the words that the server chooses for an error, wherever it is said. */
export function withFaultText(events: EventFeed, errorText: ((error: Fault) => string) | undefined): EventFeed {
  return errorText === undefined ? events : mapFeed(events, (event) => reworded(event, errorText));
}

function reworded(event: AGUIEvent, errorText: (error: Fault) => string): AGUIEvent {
  if (event.type === 'RUN_ERROR' || event.type === 'SUBAGENT_ERROR') return rewordedError(event, errorText);
  // A node is a step to AG-UI, and how it ended is beside it.
  if (event.type === 'STEP_FINISHED') return rewordedEnd(event, errorText);
  const isNotice = event.type === 'CUSTOM' && event.name === customNames.notice;
  const { level, message, code, data: _, ...notice } = isNotice ? fieldsOf(event.value) : {};
  if (level !== 'error') return event;
  const said: Fault = { message: String(message), ...(typeof code === 'string' && { code }) };
  return { ...event, value: { ...notice, level, ...said, message: errorText(said) } } as AGUIEvent;
}

function rewordedError(
  event: AGUIEventOf<'RUN_ERROR' | 'SUBAGENT_ERROR'>,
  errorText: (error: Fault) => string,
): AGUIEvent {
  const said: Fault = { message: event.message, ...(event.code !== undefined && { code: event.code }) };
  const message = errorText(endOf(event)?.error ?? said);
  return rewordedEnd({ ...event, message }, () => message);
}

/** What our own decoder reads. */
function rewordedEnd(event: AGUIEvent, errorText: (error: Fault) => string): AGUIEvent {
  const ended = endOf(event);
  if (ended === undefined) return event;
  const kept = fieldsOf(fieldsOf(event.metadata)[slotKey]);
  const error = { ...ended.error, message: errorText(ended.error) };
  return { ...event, metadata: { ...event.metadata, [slotKey]: { ...kept, ended: { ...ended, error } } } };
}

function endOf({ metadata }: AGUIEvent): { error: Fault } | undefined {
  const ended = fieldsOf(fieldsOf(fieldsOf(metadata)[slotKey]).ended);
  return isFields(ended.error) ? (ended as { error: Fault }) : undefined;
}
