import type { Json, JsonObject } from './json.ts';
import { setOwn } from './set-own.ts';

/**
 * The merge of `mergeMetadata`, but objects in `owned` were made here, are known to nobody else, and are changed in
 * place: n keys that arrive one by one cost n and not n².
 */
export function mergeOwned(a: JsonObject | undefined, b: JsonObject, owned: WeakSet<object>): JsonObject {
  const target = a !== undefined && owned.has(a) ? a : { ...a };
  owned.add(target);
  for (const [key, later] of Object.entries(b)) {
    const before = Object.hasOwn(target, key) ? target[key] : undefined;
    setOwn(target, key, isObject(before) && isObject(later) ? mergeOwned(before, later, owned) : later);
  }
  return target;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
