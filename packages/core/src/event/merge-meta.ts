import { isFields } from '../json/fields.ts';
import type { Json, JsonObject, Meta } from '../json/json.ts';
import { MAX_DEPTH } from '../json/max-depth.ts';
import { setOwn } from '../json/set-own.ts';

/**
 * Merges provider metadata of a part. The objects under each top-level key are merged and the later value wins:
 * `{ openai: { a } }` and `{ openai: { b } }` give `{ openai: { a, b } }`.
 * Changes neither argument, and returns the first one itself if the second adds nothing.
 */
export function mergeMeta(a: Meta, b?: Meta): Meta;
export function mergeMeta(a: Meta | undefined, b: Meta): Meta;
export function mergeMeta(a?: Meta, b?: Meta): Meta | undefined;
export function mergeMeta(a?: Meta, b?: Meta): Meta | undefined {
  if (a === undefined) return b;
  return b === undefined ? a : (merge(a, b, 2) as Meta);
}

/**
 * Merges metadata of a message deeply: the later value wins, arrays are replaced. Like `mergeMeta` it changes no argument. Beyond
 * `MAX_DEPTH` the later value replaces the earlier one, so that hostile input cannot exhaust the stack.
 */
export function mergeMetadata(a: JsonObject, b?: JsonObject): JsonObject;
export function mergeMetadata(a: JsonObject | undefined, b: JsonObject): JsonObject;
export function mergeMetadata(a?: JsonObject, b?: JsonObject): JsonObject | undefined;
export function mergeMetadata(a?: JsonObject, b?: JsonObject): JsonObject | undefined {
  if (a === undefined) return b;
  return b === undefined ? a : merge(a, b, MAX_DEPTH);
}

function merge(a: JsonObject, b: JsonObject, depth: number): JsonObject {
  let merged: JsonObject | undefined;
  for (const key of Object.keys(b)) {
    const before = Object.hasOwn(a, key) ? a[key] : undefined;
    const later = b[key] as Json;
    const value = depth > 1 && isFields(before) && isFields(later) ? merge(before, later, depth - 1) : later;
    if (value === before && before !== undefined) continue;
    // A spread keeps an own `__proto__` key an own key.
    merged ??= { ...a };
    setOwn(merged, key, value);
  }
  return merged ?? a;
}
