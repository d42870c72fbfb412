import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AGUIEvent } from './ag-ui-event.ts';
import { createFrameBytes } from './ag-ui-frame-bytes.ts';
import { toAGUIFrame } from './ag-ui-frame.ts';
import { moreWords, sayMore, type MoreWords } from './more-words.ts';

const decoder = new TextDecoder();

function inRow(events: readonly AGUIEvent[]): string {
  const frames = createFrameBytes();
  for (const event of events) frames.add(event);
  return decoder.decode(frames.take());
}

const oneByOne = (events: readonly AGUIEvent[]): string => events.map(toAGUIFrame).join('');

const id = fc.constantFrom('a', 'b"', 'ü');
const delta = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', '"', '\\', '\u0001', 'é', '\u2028', '你', '😀', '\ud800') }),
  fc.constantFrom('x', 'long '.repeat(1000), '你'.repeat(20_000)),
);
const more = fc.constantFrom({}, {}, {}, { timestamp: 1 }, { metadata: { theirs: true } });
const event = fc.oneof(
  fc
    .tuple(fc.constantFrom('TEXT_MESSAGE_CONTENT', 'REASONING_MESSAGE_CONTENT'), id, delta, more)
    .map(([type, messageId, words, added]) => ({ type, messageId, delta: words, ...added })),
  fc.tuple(id, delta, more).map(([toolCallId, args, added]) => {
    return { type: 'TOOL_CALL_ARGS', toolCallId, delta: args, ...added };
  }),
  fc.record({ type: fc.constant('TEXT_MESSAGE_END'), messageId: id }),
  fc.record({ type: fc.constant('CUSTOM'), name: id, value: delta }),
) as fc.Arbitrary<AGUIEvent>;

/** All the ways in which more words are told, with a time and without. */
function allWays(name: string): MoreWords[] {
  const chunk = { toolCallName: `${name}-tool`, parentMessageId: `${name}-message` };
  const kinds = ['text', 'textChunk', 'reasoning', 'call', 'callChunk'] as const;
  return kinds.flatMap((kind) =>
    [undefined, 17].map((timestamp) => moreWords({ kind, id: name, ...chunk, timestamp })),
  );
}

describe('frames as bytes', () => {
  it('are the same, written one by one or in a row, wherever they are taken', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(event, fc.boolean()), { maxLength: 30 }), (steps) => {
        const frames = createFrameBytes();
        let text = '';
        for (const [one, isTaken] of steps) {
          frames.add(one);
          if (isTaken) text += decoder.decode(frames.take());
        }
        text += decoder.decode(frames.take());
        expect(frames.length()).toBe(0);
        expect(text).toBe(oneByOne(steps.map(([one]) => one)));
      }),
      { numRuns: 200 },
    );
  });

  it('of words that nobody has made an event of are those of the event, whatever is added between them', () => {
    const ways = fc.constantFrom(...allWays('a'), ...allWays('b","delta":""'));
    const step = fc.oneof(fc.record({ words: ways, delta }), fc.record({ added: event }));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const frames = createFrameBytes();
        let expected = '';
        for (const one of steps) {
          if ('added' in one) {
            frames.add(one.added);
            expected += toAGUIFrame(one.added);
          } else {
            frames.more(one.delta, one.words);
            expected += toAGUIFrame(sayMore(one.words, one.delta));
          }
        }
        expect(decoder.decode(frames.take())).toBe(expected);
      }),
      { numRuns: 200 },
    );
  });

  it('hold what somebody has added to an event, and what JSON cannot say', () => {
    const added = { type: 'TEXT_MESSAGE_CONTENT', messageId: 'a', delta: 'x', theirs: 1n } as unknown as AGUIEvent;
    expect(inRow([added])).toBe(toAGUIFrame(added));
    expect(inRow([added])).toContain('"theirs":');
  });

  it('hold what is no text, where somebody else has made the event', () => {
    const odd = { type: 'TOOL_CALL_ARGS', toolCallId: 1, delta: { a: 1 } } as unknown as AGUIEvent;
    expect(inRow([odd])).toBe('data: {"type":"TOOL_CALL_ARGS","toolCallId":1,"delta":{"a":1}}\n\n');
  });

  it('that were taken are not written over by the next', () => {
    const frames = createFrameBytes();
    const [first, second]: [AGUIEvent, AGUIEvent] = [
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'a', delta: 'first' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'a', delta: 'other' },
    ];
    frames.add(first);
    const taken = frames.take();
    frames.add(second);
    expect(decoder.decode(taken)).toBe(toAGUIFrame(first));
    expect(taken.buffer.byteLength).toBe(taken.length);
  });
});
