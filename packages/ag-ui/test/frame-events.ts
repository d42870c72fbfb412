import type { AGUIEvent } from '../src/shared/ag-ui-event.ts';

/** Parses the events of a complete server-sent event stream. */
export function frameEvents(text: string): AGUIEvent[] {
  const frames = text.split('\n\n').filter((frame) => frame.startsWith('data: '));
  return frames.map((frame) => JSON.parse(frame.slice(6)) as AGUIEvent);
}
