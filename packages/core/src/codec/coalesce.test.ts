import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coalesce } from './coalesce.ts';
import { transcode } from './codec.ts';
import type { AgentEvent } from '../event/event.ts';

const text = (id: string, delta: string): AgentEvent => ({ type: 'text-delta', id, delta });
const reasoning = (id: string, delta: string): AgentEvent => ({ type: 'reasoning-delta', id, delta });
const input = (toolCallId: string, delta: string): AgentEvent => ({ type: 'tool-input-delta', toolCallId, delta });

describe('coalesce', () => {
  it('merges adjacent deltas of one part', () => {
    expect(transcode(coalesce(), [text('a', 'Hel'), text('a', 'lo'), text('a', '!')])).toEqual([text('a', 'Hello!')]);
  });

  it.each<[string, AgentEvent]>([
    ['another part', text('b', 'x')],
    ['another kind', reasoning('a', 'x')],
    ['another event', { type: 'text-end', id: 'a' }],
    ['metadata', { type: 'text-delta', id: 'a', delta: 'x', providerMetadata: { openai: { a: 1 } } }],
  ])('emits the merged delta before %s', (_, event) => {
    const events = [text('a', '1'), event, text('a', '2')];
    expect(transcode(coalesce(), events)).toEqual(events);
  });

  it('emits the merged delta on flush, and a single delta unchanged', () => {
    const codec = coalesce();
    const events: AgentEvent[] = [];
    const delta = text('a', '1');
    codec.feed(delta, (event) => events.push(event));
    expect(events).toEqual([]);
    codec.flush?.((event) => events.push(event));
    codec.flush?.((event) => events.push(event));
    expect(events).toHaveLength(1);
    expect(events[0]).toBe(delta);
  });

  it('limits a merged delta by its UTF-8 bytes', () => {
    const merged = transcode(coalesce({ maxBytes: 6 }), [text('a', '€'), text('a', '€'), text('a', '€')]);
    expect(merged).toEqual([text('a', '€€'), text('a', '€')]);
    expect(transcode(coalesce({ maxBytes: 2 }), [text('a', 'long'), text('a', 'x')])).toHaveLength(2);
  });

  it('keeps the time of the first delta', () => {
    expect(transcode(coalesce(), [{ ...text('a', '1'), at: 5 }, text('a', '2')])).toEqual([
      { ...text('a', '12'), at: 5 },
    ]);
  });

  const piece = fc.oneof(fc.constantFrom('', 'a', 'é', '😀', '\ud83d', '\ude00'), fc.string());
  const delta = fc
    .tuple(fc.constantFrom(text, reasoning, input), fc.constantFrom('a', 'b'), piece)
    .map(([make, id, content]) => make(id, content));
  const other = fc.constantFrom<AgentEvent>(
    { type: 'notice', level: 'info', message: '' },
    { type: 'text-end', id: 'a' },
  );
  const events = fc.array(fc.oneof({ arbitrary: delta, weight: 5 }, other));

  it('preserves the text for every maxBytes', () => {
    fc.assert(
      fc.property(events, fc.integer({ min: 1, max: 20 }), (before, maxBytes) => {
        expect(joinDeltas(transcode(coalesce({ maxBytes }), before))).toEqual(joinDeltas(before));
      }),
    );
  });

  it('gives the same output however the text was split into deltas', () => {
    fc.assert(
      fc.property(events, (before) => {
        const split = before.flatMap((event): AgentEvent[] =>
          'delta' in event ? event.delta.split('').map((unit) => ({ ...event, delta: unit })) : [event],
        );
        const without = before.filter((event) => !('delta' in event) || event.delta !== '');
        expect(transcode(coalesce(), split)).toEqual(transcode(coalesce(), without));
      }),
    );
  });
});

/** Joins adjacent deltas of one part, and keeps the other events between them. */
function joinDeltas(events: AgentEvent[]): unknown[] {
  const texts: Array<{ key: string; text: string }> = [];
  for (const event of events) {
    const key = 'delta' in event ? `${event.type} ${'id' in event ? event.id : event.toolCallId}` : event.type;
    const last = texts.at(-1);
    if ('delta' in event && last?.key === key) last.text += event.delta;
    else texts.push({ key, text: 'delta' in event ? event.delta : '' });
  }
  return texts;
}
