import type { AGUIEvent } from '../src/shared/ag-ui-event.ts';

/** The events of a server-sent stream that is over. */
export function frameEvents(text: string): AGUIEvent[] {
  const frames = text.split('\n\n').filter((frame) => frame.startsWith('data: '));
  return frames.map((frame) => JSON.parse(frame.slice(6)) as AGUIEvent);
}
