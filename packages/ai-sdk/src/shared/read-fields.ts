import type { Json, JsonObject, Meta, OnLoss } from '@intertie/core';
import { toJson, isFields, asText } from '@intertie/core/internal';

export {
  defined,
  asFields,
  asBoolean,
  isFields,
  asNonEmptyText,
  asNumber,
  omit,
  asText,
  type Fields,
} from '@intertie/core/internal';

/** What a wire calls something. Only strings and numbers are names; all else is one that nobody has. */
export function toKey(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** A moment, as JSON says it. */
export function parseDate(value: unknown): Date | undefined {
  const date = new Date(asText(value) ?? NaN);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

export function asJsonObject(value: Json): JsonObject | undefined {
  return isFields(value) ? value : undefined;
}

/** Provider metadata: an object of objects. What is not one is no metadata, and is reported. */
export function parseMetadata(value: unknown, onLoss: OnLoss): Meta | undefined {
  if (value === undefined || value === null) return undefined;
  const meta: Meta = {};
  for (const [provider, entry] of Object.entries(asJsonObject(toJson(value, onLoss)) ?? {})) {
    const fields = asJsonObject(entry);
    if (fields !== undefined) meta[provider] = fields;
    else
      onLoss({ kind: 'repaired', what: 'providerMetadata', why: `"${provider}" holds no object, and was left out.` });
  }
  return Object.keys(meta).length > 0 ? meta : undefined;
}
