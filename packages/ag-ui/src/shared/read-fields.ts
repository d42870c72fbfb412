import type { Json, JsonObject } from '@intertie/core';
import { isFields } from '@intertie/core/internal';

export { defined, asFields, isFields, asNonEmptyText, asText, type Fields } from '@intertie/core/internal';

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return isFields(value);
}

/** Clients that have no state, or nothing to forward, say so with an empty one. */
export function isNothing(value: unknown): boolean {
  return value === undefined || value === null || (isFields(value) && Object.keys(value).length === 0);
}
