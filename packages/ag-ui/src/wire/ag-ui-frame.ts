import { toJson } from '@intertie/core';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';

/** Formats an event as a server-sent event. Lines end with LF, the only separator that all clients support. */
export function toAGUIFrame(event: AGUIEvent): string {
  return `data: ${toAGUIText(event)}\n\n`;
}

/** Serializes an event as JSON. */
export function toAGUIText(event: AGUIEvent): string {
  try {
    return JSON.stringify(event);
  } catch {
    // An event of the user's with a value that JSON cannot represent.
    return JSON.stringify(toJson(event));
  }
}
