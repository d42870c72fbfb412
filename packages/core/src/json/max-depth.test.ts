import { expect, it } from 'vitest';

import type { Json } from './json.ts';
import { MAX_DEPTH } from './max-depth.ts';
import { decodeMessage, encodeMessage } from '../message/message-json.ts';
import { foldEvents } from '../message/message-list.ts';
import { toJson } from './to-json.ts';
import { unfold } from '../message/unfold.ts';
import { validateEvent } from '../event/validate-event.ts';

function nested(levels: number): Json {
  let value: Json = 1;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

it.each([MAX_DEPTH, 1000])('accepts the conversion of %i levels in events and messages', (levels) => {
  const output = toJson(nested(levels));
  const events = [
    { type: 'run-start', runId: 'r1', threadId: 't1', messageId: 'm1', at: 0 },
    { type: 'tool-call', toolCallId: 'c1', toolName: 'dig', input: output },
    { type: 'tool-result', toolCallId: 'c1', status: 'ok', output },
    { type: 'state-snapshot', state: output },
    { type: 'run-end', outcome: 'complete' },
  ] as const;
  expect(events.map((event) => validateEvent(event))).toEqual(events.map(() => undefined));
  const message = decodeMessage(encodeMessage(foldEvents(events)!));
  expect(message.content.parts).toMatchObject([{ args: output, result: output }]);
  for (const event of unfold(message)) expect(validateEvent(event)).toBeUndefined();
});

it('rejects an event with a value deeper than MAX_DEPTH', () => {
  expect(validateEvent({ type: 'state-snapshot', state: nested(MAX_DEPTH + 1) })?.message).toContain('256 deep');
});
