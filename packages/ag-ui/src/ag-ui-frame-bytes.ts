import type { AGUIEvent } from './ag-ui-event.ts';
import { toAGUIFrame } from './ag-ui-frame.ts';
import { maxJsonBytes, writeJsonText } from './json-bytes.ts';
import { sayMore, type MoreWords } from './more-words.ts';

/** Most pieces are a word or two; what needs more room gets it. */
const firstSize = 1024;
/** What is larger is measured before there is room made for it, and the room is not kept. */
const largeSize = 16_384;
const noWords = '"delta":""';
/** What mostly comes after the words, and too little to be copied. */
const bareEnd = '"}\n\n';
const [quote, brace, lineFeed] = [0x22, 0x7d, 0x0a];

/**
 * What `toAGUIFrame` says of events, as bytes that are gathered until somebody takes them. Most events say a few more words of
 * the same thing: what is around their words is made once and copied, and the words are written as bytes at once: a text that is
 * put together of many small ones has to be taken apart again.
 */
export interface AGUIFrameBytes {
  length(): number;
  add(event: AGUIEvent): void;
  /** Adds the event that these words would be, which nobody makes. */
  readonly more: (delta: string, words: MoreWords) => void;
  /** All that was added since it was last asked. */
  take(): Uint8Array<ArrayBuffer>;
}

export function createFrameBytes(): AGUIFrameBytes {
  const encoder = new TextEncoder();
  let bytes = new Uint8Array(firstSize);
  let length = 0;
  /** What the last words were of, and what was around them. */
  let lastWords: MoreWords | undefined;
  let lastType: string | undefined;
  let lastId: string | undefined;
  let before = new Uint8Array();
  let after = new Uint8Array();
  let isBareEnd = false;

  const makeRoom = (more: number): void => {
    const needed = length + more;
    if (needed <= bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, 2 * bytes.length));
    larger.set(bytes.subarray(0, length));
    bytes = larger;
  };
  const append = (more: Uint8Array): void => {
    makeRoom(more.length);
    bytes.set(more, length);
    length += more.length;
  };
  const write = (text: string): void => {
    if (text.length > largeSize) return append(encoder.encode(text));
    // No character takes more than three bytes for each of its units.
    makeRoom(text.length * 3);
    length += encoder.encodeInto(text, bytes.subarray(length)).written;
  };

  /** What is around the words of an event. */
  const learn = (event: object): void => {
    const frame = toAGUIFrame({ ...event, delta: '' } as AGUIEvent);
    // Within a text the quotes would be escaped, so this is nobody's id.
    const end = frame.indexOf(noWords) + noWords.length - 1;
    before = encoder.encode(frame.slice(0, end));
    after = encoder.encode(frame.slice(end));
    isBareEnd = frame.slice(end) === bareEnd;
  };
  const say = (delta: string): void => {
    const room = before.length + delta.length * maxJsonBytes + after.length;
    if (length + room > bytes.length) makeRoom(room);
    const target = bytes;
    target.set(before, length);
    const start = length + before.length;
    const end = writeJsonText(delta, target, start);
    if (end < 0 || !isBareEnd) return sayOther(delta, start, end);
    target[end] = quote;
    target[end + 1] = brace;
    target[end + 2] = lineFeed;
    target[end + 3] = lineFeed;
    length = end + bareEnd.length;
  };
  /** By itself: what is said mostly is short enough to be compiled into its caller. */
  const sayOther = (delta: string, start: number, end: number): void => {
    length = end < 0 ? start : end;
    if (end < 0) write(JSON.stringify(delta).slice(1, -1));
    append(after);
  };
  const sayAll = (event: AGUIEvent, id: unknown, delta: unknown): void => {
    if (!isBare(event) || typeof id !== 'string' || typeof delta !== 'string') return write(toAGUIFrame(event));
    if (lastId !== id || lastType !== event.type) {
      lastId = id;
      lastType = event.type;
      lastWords = undefined;
      learn(event);
    }
    say(delta);
  };

  return {
    length: () => length,
    add(event) {
      switch (event.type) {
        case 'TEXT_MESSAGE_CONTENT':
        case 'REASONING_MESSAGE_CONTENT':
          return sayAll(event, event.messageId, event.delta);
        case 'TOOL_CALL_ARGS':
          return sayAll(event, event.toolCallId, event.delta);
        default:
          return write(toAGUIFrame(event));
      }
    },
    more(delta, words) {
      if (lastWords !== words) {
        lastWords = words;
        lastId = undefined;
        learn(sayMore(words, ''));
      }
      say(delta);
    },
    take() {
      const taken = bytes.slice(0, length);
      length = 0;
      if (bytes.length > 4 * largeSize) bytes = new Uint8Array(firstSize);
      return taken;
    },
  };
}

/** Whether it says its type, an id and words, and nothing else. */
function isBare(event: AGUIEvent): boolean {
  let count = 0;
  for (const _ in event) count += 1;
  return count === 3;
}
