import { toJson } from '@intertie/core';
import type { AGUIEvent } from './ag-ui-event.ts';

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

/**
 * What `toAGUIFrame` says, for the events of one run: most of them say a few more words of the same thing, so what is before
 * the words is written once.
 */
export function createAGUIFrames(): (event: AGUIEvent) => string {
  let lastType: string | undefined;
  let lastId: string | undefined;
  let before = '';

  const say = (event: AGUIEvent, key: 'messageId' | 'toolCallId', id: string, delta: string): string => {
    if (!isBare(event)) return toAGUIFrame(event);
    if (lastId !== id || lastType !== event.type) {
      lastId = id;
      lastType = event.type;
      before = `data: {"type":"${event.type}","${key}":${JSON.stringify(id)},"delta":`;
    }
    return `${before}${JSON.stringify(delta)}}\n\n`;
  };

  return (event) => {
    switch (event.type) {
      case 'TEXT_MESSAGE_CONTENT':
      case 'REASONING_MESSAGE_CONTENT':
        return say(event, 'messageId', event.messageId, event.delta);
      case 'TOOL_CALL_ARGS':
        return say(event, 'toolCallId', event.toolCallId, event.delta);
      default:
        return toAGUIFrame(event);
    }
  };
}

/** Whether it says its type, an id and words, and nothing else. */
function isBare(event: AGUIEvent): boolean {
  let count = 0;
  for (const _ in event) count += 1;
  return count === 3;
}
