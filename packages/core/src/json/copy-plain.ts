import type { Json, JsonObject } from './json.ts';
import { setOwn } from './set-own.ts';

/** Result for a value that is not plain JSON. */
export const NOT_PLAIN: unique symbol = Symbol('not plain');

/** Limits the copies of shared values, which are copied at every place and would otherwise grow exponentially. */
const MAX_OBJECTS = 10_000;

/**
 * Copies a value of plain JSON and dates. This is the fast path for nearly all values: tracking the path and the visited objects
 * would take longer than the copy.
 */
export function copyPlain(value: unknown, maxDepth: number): Json | typeof NOT_PLAIN {
  try {
    return copy(value, maxDepth, { left: MAX_OBJECTS });
  } catch {
    // A getter threw, so the value is not plain JSON.
    return NOT_PLAIN;
  }
}

function copy(value: unknown, depth: number, objects: { left: number }): Json | typeof NOT_PLAIN {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) return NOT_PLAIN;
      return value === 0 ? 0 : value;
    case 'object':
      if (value === null) return null;
      objects.left -= 1;
      return depth > 0 && objects.left >= 0 ? copyObject(value, depth, objects) : NOT_PLAIN;
    default:
      return NOT_PLAIN;
  }
}

function copyObject(value: object, depth: number, objects: { left: number }): Json | typeof NOT_PLAIN {
  const prototype = Object.getPrototypeOf(value) as unknown;
  if (prototype === Date.prototype) return (value as Date).toISOString();
  if ((value as { toJSON?: unknown }).toJSON !== undefined) return NOT_PLAIN;
  if (Array.isArray(value)) return prototype === Array.prototype ? copyList(value, depth, objects) : NOT_PLAIN;
  if (prototype !== Object.prototype && prototype !== null) return NOT_PLAIN;
  const fields: JsonObject = {};
  // `for … in` allocates no list of keys.
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    const field = (value as { [key: string]: unknown })[key];
    if (field === undefined) continue;
    const json = copy(field, depth - 1, objects);
    if (json === NOT_PLAIN) return NOT_PLAIN;
    setOwn(fields, key, json);
  }
  return fields;
}

function copyList(values: unknown[], depth: number, objects: { left: number }): Json | typeof NOT_PLAIN {
  const list: Json[] = [];
  for (let index = 0; index < values.length; index += 1) {
    const json = values[index] === undefined ? null : copy(values[index], depth - 1, objects);
    if (json === NOT_PLAIN) return NOT_PLAIN;
    list.push(json);
  }
  return list;
}
