import type { Json } from './json.ts';
import type { OnLoss } from './loss.ts';
import { toJson } from './to-json.ts';
import { utf8Length } from './utf8-length.ts';

/** Limit of a `raw` event, unless a decoder sets another. */
const DEFAULT_MAX_BYTES = 64 * 1024;

/** Replaces a value that was too large by the beginning of its JSON text. */
export type TruncatedJson = { truncated: true; preview: string };

/**
 * Converts any value to JSON of at most `maxBytes` (as UTF-8 text), for values that a decoder passes on without understanding them.
 * A larger value is replaced by a preview and reported. Only the part that fits is serialized.
 */
export function capJson(value: unknown, maxBytes: number = DEFAULT_MAX_BYTES, onLoss?: OnLoss): Json {
  const json = toJson(value, onLoss);
  const text = new Prefix(maxBytes);
  text.write(json);
  if (!text.isFull) return json;
  onLoss?.({
    kind: 'repaired',
    what: 'large value',
    why: `its JSON is larger than ${maxBytes} bytes; replaced by a preview`,
  });
  const frame: TruncatedJson = { truncated: true, preview: '' };
  return { ...frame, preview: truncate(text.toString(), maxBytes - JSON.stringify(frame).length) };
}

/** Serializes JSON up to a number of bytes. */
class Prefix {
  readonly #pieces: string[] = [];
  #remaining: number;

  constructor(maxBytes: number) {
    this.#remaining = maxBytes;
  }

  get isFull(): boolean {
    return this.#remaining < 0;
  }

  toString(): string {
    return this.#pieces.join('');
  }

  /** Recursive, because `toJson` has limited the depth. */
  write(json: Json): void {
    if (typeof json === 'string') this.#writeString(json);
    else if (json === null || typeof json !== 'object') this.#push(JSON.stringify(json));
    else if (Array.isArray(json)) {
      this.#push('[');
      for (let index = 0; index < json.length && !this.isFull; index += 1) {
        if (index > 0) this.#push(',');
        this.write(json[index] as Json);
      }
      this.#push(']');
    } else {
      let separator = '{';
      for (const key of Object.keys(json)) {
        if (this.isFull) return;
        this.#push(separator);
        this.#writeString(key);
        this.#push(':');
        this.write(json[key] as Json);
        separator = ',';
      }
      this.#push(separator === '{' ? '{}' : '}');
    }
  }

  /** A character takes at least one byte, so longer strings are cut before they are serialized. */
  #writeString(text: string): void {
    this.#push(JSON.stringify(text.length > this.#remaining ? text.slice(0, this.#remaining + 1) : text));
  }

  #push(piece: string): void {
    if (this.isFull) return;
    this.#pieces.push(piece);
    this.#remaining -= utf8Length(piece);
  }
}

/** Returns the longest prefix whose JSON string takes at most `maxBytes` without its quotes. Never splits a character. */
function truncate(text: string, maxBytes: number): string {
  let bytes = 0;
  let end = 0;
  for (const character of text) {
    bytes += utf8Length(JSON.stringify(character)) - 2;
    if (bytes > maxBytes) break;
    end += character.length;
  }
  return text.slice(0, end);
}
