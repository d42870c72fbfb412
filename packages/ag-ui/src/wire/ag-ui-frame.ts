import { toJson } from '@intertie/core/internal';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';

/** One event as a frame. Lines end with LF alone: clients split at nothing else. */
export function toAGUIFrame(event: AGUIEvent): string {
  return `data: ${toAGUIText(event)}\n\n`;
}

export function toAGUIText(event: AGUIEvent): string {
  try {
    return JSON.stringify(event);
  } catch {
    // An event that somebody added, with something in it that JSON cannot say.
    return JSON.stringify(toJson(event));
  }
}
