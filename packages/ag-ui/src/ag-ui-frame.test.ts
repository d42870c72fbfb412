import { describe, expect, it } from 'vitest';
import type { AGUIEvent } from './ag-ui-event.ts';
import { createAGUIFrames, toAGUIFrame } from './ag-ui-frame.ts';

const more = { timestamp: 1, metadata: { theirs: true } };
const events: AGUIEvent[] = [
  { type: 'TEXT_MESSAGE_CONTENT', messageId: 'a', delta: 'x' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: 'a', delta: 'line\n"quoted" \\ \u2028 \ud800 ☃' },
  { type: 'REASONING_MESSAGE_CONTENT', messageId: 'a', delta: 'y' },
  { type: 'TOOL_CALL_ARGS', toolCallId: 'a', delta: '{"a":' },
  { type: 'TOOL_CALL_ARGS', toolCallId: 'b"', delta: '1}' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: 'a', delta: 'z', ...more },
  { type: 'TEXT_MESSAGE_END', messageId: 'a' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: 'a', delta: 'w' },
];

describe('frames', () => {
  it('are the same, written one by one or in a row', () => {
    const frameOf = createAGUIFrames();
    expect(events.map(frameOf)).toEqual(events.map(toAGUIFrame));
  });

  it('hold what somebody has added to an event, and what JSON cannot say', () => {
    const added = { type: 'TEXT_MESSAGE_CONTENT', messageId: 'a', delta: 'x', theirs: 1n } as unknown as AGUIEvent;
    expect(createAGUIFrames()(added)).toBe(toAGUIFrame(added));
    expect(toAGUIFrame(added)).toContain('"theirs":');
  });
});
