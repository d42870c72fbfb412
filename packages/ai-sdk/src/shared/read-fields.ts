import type { Json, JsonObject, Meta, OnLoss } from '@intertie/core';
import { toJson } from '@intertie/core';
import { isFields, asText } from '@intertie/core/internal';

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

/** Converts a wire id to a map key. Ids are strings and numbers; everything else is the empty key. */
export function toKey(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** Parses an ISO date. Undefined if it is invalid. */
export function parseDate(value: unknown): Date | undefined {
  const date = new Date(asText(value) ?? NaN);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

export function asJsonObject(value: Json): JsonObject | undefined {
  return isFields(value) ? value : undefined;
}

/** Parses provider metadata, an object of objects. Drops and reports entries that are not objects. */
export function parseMetadata(value: unknown, onLoss: OnLoss): Meta | undefined {
  if (value === undefined || value === null) return undefined;
  const meta: Meta = {};
  for (const [provider, entry] of Object.entries(asJsonObject(toJson(value, onLoss)) ?? {})) {
    const fields = asJsonObject(entry);
    if (fields !== undefined) meta[provider] = fields;
    else onLoss({ kind: 'repaired', what: 'providerMetadata', why: `"${provider}" is not an object and was dropped.` });
  }
  return Object.keys(meta).length > 0 ? meta : undefined;
}
