import { toJson, type Json, type JsonObject, type Meta, type OnLoss } from '@intertie/core';

/** Something that came over a boundary: an object whose fields may be anything. */
export type Fields = { readonly [key: string]: unknown };

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** A string with something in it: ids and names. */
export function nameOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** A moment, as JSON says it. */
export function dateOf(value: unknown): Date | undefined {
  const date = new Date(textOf(value) ?? NaN);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

export function flagOf(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

/** The fields that have a value. */
export function defined<T extends object>(fields: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  const known: Partial<T> = {};
  for (const key of Object.keys(fields) as Array<keyof T>) if (fields[key] !== undefined) known[key] = fields[key];
  return known as { [Key in keyof T]?: Exclude<T[Key], undefined> };
}

export function jsonObjectOf(value: Json): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}

/** Provider metadata: an object of objects. What is not one is no metadata, and is reported. */
export function metaOf(value: unknown, onLoss: OnLoss): Meta | undefined {
  if (value === undefined || value === null) return undefined;
  const meta: Meta = {};
  for (const [provider, said] of Object.entries(jsonObjectOf(toJson(value, onLoss)) ?? {})) {
    const fields = jsonObjectOf(said);
    if (fields !== undefined) meta[provider] = fields;
    else
      onLoss({ kind: 'repaired', what: 'providerMetadata', why: `"${provider}" holds no object, and was left out.` });
  }
  return Object.keys(meta).length > 0 ? meta : undefined;
}
