import { transcode, type AgentEvent, type JsonObject, type Loss } from '@intertie/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runInput } from '../test/scripted-model.ts';
import { createFullStreamDecoder } from './decode-full-stream.ts';
import { fieldsOf } from './read-fields.ts';

/** `1` and `'1'` are one name to the wire; what is no name at all is one too. */
const id = fc.constantFrom<unknown>('0', '1', 1, undefined, null);
const words = fc.constantFrom<unknown>('a', 'b "c"\n', '', undefined, 7);
const metadata = fc.constantFrom<unknown>(undefined, undefined, undefined, {}, { p: { signature: 's' } }, 'odd');
const part = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constantFrom('text-delta', 'reasoning-delta'),
      id,
      text: words,
      providerMetadata: metadata,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('tool-input-delta'),
      id,
      delta: words,
      providerMetadata: metadata,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constantFrom('text-start', 'reasoning-start', 'tool-input-start', 'text-end', 'reasoning-end'),
      id,
      toolName: fc.constant('look'),
    }),
  },
  fc.record({ type: fc.constantFrom('tool-input-end', 'start-step', 'finish-step', 'finish', 'abort'), id }),
  fc.record({ type: fc.constant('tool-call'), toolCallId: id, toolName: fc.constant('look'), input: fc.constant({}) }),
  fc.constantFrom<unknown>(null, 'odd', Object.assign([], { type: 'text-delta', id: '0', text: 'a' })),
);

function decode(parts: readonly unknown[]): { events: AgentEvent[]; losses: Loss[] } {
  const losses: Loss[] = [];
  const decoder = createFullStreamDecoder(runInput(), { onLoss: (loss) => losses.push(loss) });
  return { events: transcode(decoder, parts), losses };
}

/** The same to the wire, and never taken for more of what was said last. */
function lookedUp(one: unknown): unknown {
  if (typeof one !== 'object' || one === null || Array.isArray(one)) return one;
  const { providerMetadata = null, ...rest } = one as { providerMetadata?: unknown };
  return { ...rest, providerMetadata };
}

/** What is carried along as it came has what was added. */
function withoutNull(event: AgentEvent): AgentEvent {
  if (event.type !== 'raw' || fieldsOf(event.value).providerMetadata !== null) return event;
  const { providerMetadata: _, ...value } = event.value as JsonObject;
  return { ...event, value };
}

test('more of what was said last is what it would be if it were looked up', () => {
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40, size: 'max' }), (parts) => {
      const { events, losses } = decode(parts.map(lookedUp));
      expect(decode(parts)).toEqual({ events: events.map(withoutNull), losses });
    }),
    { numRuns: 500 },
  );
});
