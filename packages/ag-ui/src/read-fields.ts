import type { Json, JsonObject } from '@intertie/core';

export { defined, fieldsOf, isFields, nameOf, textOf, type Fields } from '@intertie/core/fields';

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
