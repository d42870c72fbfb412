import { encodeBase64 } from './base64.ts';
import { copyPlain, NOT_PLAIN } from './copy-plain.ts';
import type { Json, JsonObject } from './json.ts';
import type { Loss } from './loss.ts';
import { setOwn } from './set-own.ts';

/** Value that JSON cannot represent. One entry per cause: `path` is the first place, `count` the number of occurrences. */
export type JsonLoss = Omit<Loss, 'id'> & { path: ReadonlyArray<string | number>; count: number };

/** Maximum length of a foreign error message in a loss. */
const MAX_TEXT = 200;

/**
 * Converts any value to JSON that shares no objects with it, and lists the losses. Shared by `toJson`, which reports the losses,
 * and `copyJson`, which rejects them.
 */
export function convertJson(value: unknown, maxDepth: number): { json: Json; losses: JsonLoss[] } {
  const json = copyPlain(value, maxDepth);
  return json === NOT_PLAIN ? new Conversion(maxDepth).run(value) : { json, losses: [] };
}

const DROPPED: unique symbol = Symbol('dropped');
/** `height` is the nesting depth of the result, to check whether a shared value fits at another place. */
type Converted = { json: Json; height: number };

class Conversion {
  readonly #done = new Map<object, Converted>();
  readonly #open = new Set<object>();
  readonly #path: Array<string | number> = [];
  readonly #losses = new Map<string, JsonLoss>();
  readonly #maxDepth: number;
  #height = 0;

  constructor(maxDepth: number) {
    this.#maxDepth = maxDepth;
  }

  run(value: unknown): { json: Json; losses: JsonLoss[] } {
    const json = this.#convert(value);
    return { json: json === DROPPED ? null : json, losses: [...this.#losses.values()] };
  }

  /** Stores the height of the result in `#height`. */
  #convert(value: unknown): Json | typeof DROPPED {
    this.#height = 0;
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value;
      case 'number':
        if (Number.isFinite(value)) return value === 0 ? 0 : value;
        this.#reportLoss('unsupported', String(value), 'JSON has only finite numbers; replaced by null');
        return null;
      case 'bigint':
        this.#reportLoss('repaired', 'BigInt', 'JSON has no BigInt; converted to a decimal string');
        return value.toString();
      case 'undefined':
        return DROPPED;
      case 'object':
        return value === null ? null : this.#convertObject(value);
      default:
        this.#reportLoss('unsupported', typeof value, `JSON has no ${typeof value}s; omitted`);
        return DROPPED;
    }
  }

  #convertObject(value: object): Json | typeof DROPPED {
    const done = this.#done.get(value);
    if (done !== undefined && this.#path.length + done.height <= this.#maxDepth) {
      this.#height = done.height;
      return done.json;
    }
    if (this.#open.has(value)) {
      this.#reportLoss('unsupported', 'circular reference', 'JSON is a tree; replaced by "[circular]"');
      return '[circular]';
    }
    if (done !== undefined || this.#path.length >= this.#maxDepth) {
      this.#reportLoss('unsupported', 'nesting', `deeper than ${this.#maxDepth} levels; replaced by "[too deep]"`);
      return '[too deep]';
    }
    this.#open.add(value);
    const depth = this.#path.length;
    let json: Json | typeof DROPPED;
    try {
      json = this.#convertByKind(value);
    } catch (error) {
      this.#path.length = depth;
      this.#height = 0;
      this.#reportLoss('unsupported', 'object', `reading it threw (${getErrorMessage(error)}); replaced by null`);
      json = null;
    }
    this.#open.delete(value);
    if (json !== DROPPED) this.#done.set(value, { json, height: this.#height });
    return json;
  }

  #convertByKind(value: object): Json | typeof DROPPED {
    const tag = Object.prototype.toString.call(value).slice(8, -1);
    // Before `toJSON`: that of a Node buffer returns a list of numbers.
    if (ArrayBuffer.isView(value) || tag === 'ArrayBuffer' || tag === 'SharedArrayBuffer')
      return this.#convertBytes(value, tag);
    if (tag === 'Date') {
      if (!Number.isNaN(Date.prototype.getTime.call(value))) return Date.prototype.toISOString.call(value);
      this.#reportLoss('unsupported', 'Date', 'it is not a valid time; replaced by null');
      return null;
    }
    if ('toJSON' in value && typeof value.toJSON === 'function') {
      const replacement: unknown = value.toJSON(String(this.#path.at(-1) ?? ''));
      if (replacement !== value) return this.#convertChild('toJSON()', replacement);
    }
    if (Array.isArray(value)) return this.#convertList(value);
    if (tag === 'Error' || value instanceof Error) return this.#convertError(value);
    switch (tag) {
      case 'Number':
      case 'String':
      case 'Boolean':
      case 'BigInt':
        return this.#convert(value.valueOf());
      case 'Map':
        this.#reportLoss('repaired', 'Map', 'JSON has no Map; converted to an array of its entries');
        return this.#convertList([...(value as Map<unknown, unknown>)]);
      case 'Set':
        this.#reportLoss('repaired', 'Set', 'JSON has no Set; converted to an array');
        return this.#convertList([...(value as Set<unknown>)]);
      default:
        return this.#convertFields(value, Object.keys(value));
    }
  }

  #convertBytes(value: object, tag: string): Json {
    let bytes: Uint8Array | undefined;
    if (!ArrayBuffer.isView(value)) bytes = new Uint8Array(value as ArrayBuffer);
    else if (tag === 'DataView' || (value as Uint8Array).BYTES_PER_ELEMENT === 1) {
      bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    }
    if (bytes !== undefined && tag !== 'Int8Array') {
      this.#reportLoss('repaired', tag, 'JSON has no bytes; converted to base64');
      return encodeBase64(bytes);
    }
    this.#reportLoss('repaired', tag, 'JSON has no typed arrays; converted to an array');
    return this.#convertList(Array.from(value as unknown as ArrayLike<unknown>));
  }

  #convertList(values: unknown[]): Json {
    const list: Json[] = [];
    let height = 0;
    for (let index = 0; index < values.length; index += 1) {
      const json = this.#convertChild(index, values[index]);
      list.push(json === DROPPED ? null : json);
      height = Math.max(height, this.#height);
    }
    this.#height = height + 1;
    return list;
  }

  #convertError(error: object): Json {
    // The name, message and cause of an error are not enumerable.
    const keys = new Set(['name', 'message', 'cause', ...Object.keys(error)]);
    keys.delete('stack');
    return this.#convertFields(error, keys);
  }

  #convertFields(value: object, keys: Iterable<string>): Json {
    const fields: JsonObject = {};
    let height = 0;
    for (const key of keys) {
      let field: unknown;
      try {
        field = (value as { [key: string]: unknown })[key];
      } catch (error) {
        this.#path.push(key);
        this.#reportLoss('unsupported', 'getter', `it threw (${getErrorMessage(error)}); omitted`);
        this.#path.pop();
        continue;
      }
      const json = this.#convertChild(key, field);
      if (json === DROPPED) continue;
      setOwn(fields, key, json);
      height = Math.max(height, this.#height);
    }
    this.#height = height + 1;
    return fields;
  }

  #convertChild(key: string | number, value: unknown): Json | typeof DROPPED {
    this.#path.push(key);
    const json = this.#convert(value);
    this.#path.pop();
    return json;
  }

  /** Counts repeated losses instead of listing each. */
  #reportLoss(kind: JsonLoss['kind'], what: string, why: string): void {
    const known = this.#losses.get(why);
    if (known !== undefined) known.count += 1;
    else this.#losses.set(why, { kind, what, why, path: [...this.#path], count: 1 });
  }
}

function getErrorMessage(error: unknown): string {
  try {
    return (error instanceof Error ? error.message : String(error)).slice(0, MAX_TEXT);
  } catch {
    return 'an error that cannot be read';
  }
}
