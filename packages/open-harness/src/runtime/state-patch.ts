import type { Json } from '@intertie/core';
import { toJson } from '@intertie/core';
import { applyPatch, type Op } from '@intertie/core/internal';
import type { StatePatch } from './runtime-event.ts';

/** New state, and the operations that produce it from the previous one. */
export type PatchedState = { state: Json; patch: Op[] };

/** Converts a runtime's patch with a dotted path to RFC 6902 operations. Creates missing parents. */
export function toStatePatch(state: Json, { op, path, value }: StatePatch): PatchedState | undefined {
  const keys = path === '' ? [] : path.split('.');
  const patch: Op[] = [];
  const entries: Array<[string[], unknown]> =
    op === 'set' ? [[keys, value]] : Object.entries(value).map(([key, field]) => [[...keys, key], field]);
  let now = state;
  const add = (place: string[], field: unknown): boolean => {
    const step: Op = { op: place.length === 0 ? 'replace' : 'add', path: toPointer(place), value: toJson(field) };
    const patched = applyPatch(now, [step]);
    if (!patched.ok) return false;
    now = patched.value;
    patch.push(step);
    return true;
  };
  for (const [place, field] of entries) {
    for (let depth = 1; depth < place.length; depth += 1) {
      const above = place.slice(0, depth);
      if (!isContainer(getAt(now, above)) && !add(above, {})) return undefined;
    }
    if (!add(place, field)) return undefined;
  }
  return { state: now, patch };
}

function toPointer(keys: string[]): string {
  return keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

function getAt(state: Json, keys: string[]): Json | undefined {
  let value: Json | undefined = state;
  for (const key of keys) {
    if (!isContainer(value) || !Object.hasOwn(value, key)) return undefined;
    value = (value as { [key: string]: Json })[key];
  }
  return value;
}

function isContainer(value: Json | undefined): value is Json[] | { [key: string]: Json } {
  return typeof value === 'object' && value !== null;
}
