/** Object from outside the process. Its fields are not checked yet. */
export type Fields = { readonly [key: string]: unknown };

/** Whether a value is an object and not a list. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function asFields(value: unknown): Fields {
  return isFields(value) ? value : {};
}

export function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Returns the value if it is a non-empty string, as ids and names are. */
export function asNonEmptyText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

export function asBoolean(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

/** Removes the fields whose value is undefined. */
export function defined<T extends object>(fields: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  const known: Partial<T> = {};
  for (const key of Object.keys(fields) as Array<keyof T>) if (fields[key] !== undefined) known[key] = fields[key];
  return known as { [Key in keyof T]?: Exclude<T[Key], undefined> };
}

type Without<T, Key> = T extends unknown ? { [Name in keyof T as Exclude<Name, Key>]: T[Name] } : never;

/** Copies an object without some of its fields. */
export function omit<T extends object, Key extends keyof T>(value: T, ...keys: Key[]): Without<T, Key> {
  const omitted: ReadonlySet<unknown> = new Set(keys);
  return Object.fromEntries(Object.entries(value).filter(([key]) => !omitted.has(key))) as Without<T, Key>;
}
