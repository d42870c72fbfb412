import { encodeBase64 } from './base64.ts';
import { copyPlain, NOT_PLAIN } from './copy-plain.ts';
import type { Json, JsonObject } from './json.ts';
import type { Loss } from './loss.ts';
import { setOwn } from './set-own.ts';

/** What JSON could not say, once per cause: `path` is the place of the first, `count` how many there were. */
export type JsonLoss = Omit<Loss, 'id'> & { path: ReadonlyArray<string | number>; count: number };

/** Of foreign messages in the ledger. */
const MAX_TEXT = 200;

/**
 * Any value as JSON that shares nothing with it, and what was lost on the way. The one implementation under `toJson`,
 * which reports the losses, and `copyJson`, which refuses them.
 */
export function convertJson(value: unknown, maxDepth: number): { json: Json; losses: JsonLoss[] } {
  const json = copyPlain(value, maxDepth);
  return json === NOT_PLAIN ? new Conversion(maxDepth).run(value) : { json, losses: [] };
}

const DROPPED: unique symbol = Symbol('dropped');
/** `height` is how deep it nests, so that a shared value is not put where it would be too deep. */
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

  /** Leaves the height of what it returns in `#height`. */
  #convert(value: unknown): Json | typeof DROPPED {
    this.#height = 0;
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value;
      case 'number':
        if (Number.isFinite(value)) return value === 0 ? 0 : value;
        this.#reportLoss('unsupported', String(value), 'JSON has finite numbers only; null stands for it');
        return null;
      case 'bigint':
        this.#reportLoss('repaired', 'BigInt', 'JSON has no BigInt; kept as a string of digits');
        return value.toString();
      case 'undefined':
        return DROPPED;
      case 'object':
        return value === null ? null : this.#convertObject(value);
      default:
        this.#reportLoss('unsupported', typeof value, `JSON has no ${typeof value}s; left out`);
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
      this.#reportLoss('unsupported', 'circular reference', 'JSON is a tree; "[circular]" stands for it');
      return '[circular]';
    }
    if (done !== undefined || this.#path.length >= this.#maxDepth) {
      this.#reportLoss('unsupported', 'nesting', `deeper than ${this.#maxDepth} levels; "[too deep]" stands for the rest`);
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
      this.#reportLoss('unsupported', 'object', `it threw while it was read (${getErrorMessage(error)}); null stands for it`);
      json = null;
    }
    this.#open.delete(value);
    if (json !== DROPPED) this.#done.set(value, { json, height: this.#height });
    return json;
  }

  #convertByKind(value: object): Json | typeof DROPPED {
    const tag = Object.prototype.toString.call(value).slice(8, -1);
    // Before `toJSON`: a Node buffer has one, and makes a list of numbers of itself.
    if (ArrayBuffer.isView(value) || tag === 'ArrayBuffer' || tag === 'SharedArrayBuffer')
      return this.#convertBytes(value, tag);
    if (tag === 'Date') {
      if (!Number.isNaN(Date.prototype.getTime.call(value))) return Date.prototype.toISOString.call(value);
      this.#reportLoss('unsupported', 'Date', 'it is not a valid time; null stands for it');
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
        this.#reportLoss('repaired', 'Map', 'JSON has no Map; kept as an array of its entries');
        return this.#convertList([...(value as Map<unknown, unknown>)]);
      case 'Set':
        this.#reportLoss('repaired', 'Set', 'JSON has no Set; kept as an array');
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
      this.#reportLoss('repaired', tag, 'JSON has no bytes; kept as base64');
      return encodeBase64(bytes);
    }
    this.#reportLoss('repaired', tag, 'JSON has no typed arrays; kept as an array');
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
    // Name, message and cause are not enumerable, and say the most.
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
        this.#reportLoss('unsupported', 'getter', `it threw (${getErrorMessage(error)}); left out`);
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

  /** A million functions in a list are one loss, with a count. */
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
