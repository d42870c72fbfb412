import { isFields, type Fields } from '../../shared/read-fields.ts';

/** Maximum nesting. Deeper metadata is rejected; the schema overflows the stack. */
const maxDepth = 500;

// The schema checks own enumerable keys except `__proto__`. `for … in` avoids allocating a key list; inherited keys are only
// excluded where they would fail. Symbols, which the schema rejects, are ignored: JSON cannot contain them, and looking for them
// takes longer than everything else.

/** Whether a value is provider metadata: an object of JSON objects. */
export function isMetadata(value: unknown): boolean {
  if (!isPlainObject(value)) return false;
  for (const key in value) if (!isJsonRecord(value[key], 1) && isOwn(value, key)) return false;
  return true;
}

export function isTextRecord(value: unknown): boolean {
  if (!isPlainObject(value)) return false;
  for (const key in value) if (typeof value[key] !== 'string' && isOwn(value, key)) return false;
  return true;
}

export function isJsonRecord(value: unknown, depth = 0): boolean {
  if (!isPlainObject(value)) return false;
  for (const key in value) {
    const item = value[key];
    if (item !== undefined && !isJson(item, depth + 1) && isOwn(value, key)) return false;
  }
  return true;
}

function isOwn(value: Fields, key: string): boolean {
  return key !== '__proto__' && Object.hasOwn(value, key);
}

function isJson(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true;
    case 'number':
      return Number.isFinite(value);
    case 'object':
      if (value === null) return true;
      if (depth > maxDepth) return false;
      if (!Array.isArray(value)) return isJsonRecord(value, depth);
      // By index: a hole is an absent value, which `every` would skip.
      for (let index = 0; index < value.length; index += 1) if (!isJson(value[index], depth + 1)) return false;
      return true;
    default:
      return false;
  }
}

/** Whether the schema considers a value a plain object: it has no constructor, or that of objects. */
function isPlainObject(value: unknown): value is Fields {
  if (!isFields(value)) return false;
  const { constructor } = value;
  // Fast path for nearly all values.
  if (constructor === Object) return true;
  if (typeof constructor !== 'function') return true;
  const prototype: unknown = constructor.prototype;
  return isFields(prototype) && Object.hasOwn(prototype, 'isPrototypeOf');
}
