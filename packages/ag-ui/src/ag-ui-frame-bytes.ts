import type { AGUIEvent } from './ag-ui-event.ts';
import { toAGUIFrame } from './ag-ui-frame.ts';
import { maxJsonBytes, writeJsonText } from './json-bytes.ts';

/** Most pieces are a word or two; what needs more room gets it. */
const firstSize = 1024;
/** What is larger is measured before there is room made for it, and the room is not kept. */
const largeSize = 16_384;

/**
 * What `toAGUIFrame` says of events, as bytes that are gathered until somebody takes them. Most events say a few more words of
 * the same thing: what is before their words is made once and copied, and the words are written as bytes at once: a text that is put
 * together of many small ones has to be taken apart again.
 */
export class AGUIFrameBytes {
  #encoder = new TextEncoder();
  #bytes = new Uint8Array(firstSize);
  #length = 0;
  /** What the last words were of, and what was before them. */
  #lastType: string | undefined;
  #lastId: string | undefined;
  #before = new Uint8Array();

  get length(): number {
    return this.#length;
  }

  add(event: AGUIEvent): void {
    switch (event.type) {
      case 'TEXT_MESSAGE_CONTENT':
      case 'REASONING_MESSAGE_CONTENT':
        return this.#say(event, 'messageId', event.messageId, event.delta);
      case 'TOOL_CALL_ARGS':
        return this.#say(event, 'toolCallId', event.toolCallId, event.delta);
      default:
        return this.#write(toAGUIFrame(event));
    }
  }

  /** All that was added since it was last asked. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = this.#bytes.slice(0, this.#length);
    this.#length = 0;
    if (this.#bytes.length > 2 * largeSize) this.#bytes = new Uint8Array(firstSize);
    return taken;
  }

  #say(event: AGUIEvent, key: 'messageId' | 'toolCallId', id: string, delta: string): void {
    if (!isBare(event) || typeof id !== 'string' || typeof delta !== 'string') return this.#write(toAGUIFrame(event));
    if (this.#lastId !== id || this.#lastType !== event.type) {
      this.#lastId = id;
      this.#lastType = event.type;
      this.#before = this.#encoder.encode(`data: {"type":"${event.type}","${key}":${JSON.stringify(id)},"delta":"`);
    }
    this.#append(this.#before);
    this.#makeRoom(delta.length * maxJsonBytes + 4);
    const bytes = this.#bytes;
    const end = writeJsonText(delta, bytes, this.#length);
    if (end < 0) return this.#write(`${JSON.stringify(delta).slice(1)}}\n\n`);
    // `"}` and two LF: too few to be copied.
    bytes[end] = 0x22;
    bytes[end + 1] = 0x7d;
    bytes[end + 2] = 0x0a;
    bytes[end + 3] = 0x0a;
    this.#length = end + 4;
  }

  #write(text: string): void {
    if (text.length > largeSize) return this.#append(this.#encoder.encode(text));
    // No character takes more than three bytes for each of its units.
    this.#makeRoom(text.length * 3);
    this.#length += this.#encoder.encodeInto(text, this.#bytes.subarray(this.#length)).written;
  }

  #append(bytes: Uint8Array): void {
    this.#makeRoom(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  #makeRoom(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, 2 * this.#bytes.length));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}

/** Whether it says its type, an id and words, and nothing else. */
function isBare(event: AGUIEvent): boolean {
  let count = 0;
  for (const _ in event) count += 1;
  return count === 3;
}
