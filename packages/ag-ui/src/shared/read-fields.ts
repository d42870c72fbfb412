import type { Json, JsonObject } from '@intertie/core';
import { isFields } from '@intertie/core/internal';

export { defined, asFields, isFields, asNonEmptyText, asText, type Fields } from '@intertie/core/internal';

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return isFields(value);
}

/** Whether a value is absent or an empty object, which clients send for no state or no forwarded props. */
export function isEmptyValue(value: unknown): boolean {
  return value === undefined || value === null || (isFields(value) && Object.keys(value).length === 0);
}
