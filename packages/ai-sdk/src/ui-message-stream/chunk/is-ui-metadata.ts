import { isFields, type Fields } from '../../shared/read-fields.ts';

/** Deeper metadata than this is refused instead of overflowing the stack, as the schema would. */
const maxDepth = 500;

// The schema looks at own, enumerable keys but `__proto__`. A `for … in` makes no list of them, and reads the fields of objects
// of one kind without a lookup; what it sees of a prototype is told apart only where it would be wrong. It passes over symbols,
// which the schema refuses: JSON does not write them, and to look for them takes longer than all the rest.

/** Metadata by the provider: an object of JSON objects. */
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
      // By index: a hole is an absent value, and `every` would pass over it.
      for (let index = 0; index < value.length; index += 1) if (!isJson(value[index], depth + 1)) return false;
      return true;
    default:
      return false;
  }
}

/** A plain object in the schema's eyes: one whose constructor, if it has one, is that of objects. */
function isPlainObject(value: unknown): value is Fields {
  if (!isFields(value)) return false;
  const { constructor } = value;
  // Nearly always, and much faster than to look.
  if (constructor === Object) return true;
  if (typeof constructor !== 'function') return true;
  const prototype: unknown = constructor.prototype;
  return isFields(prototype) && Object.hasOwn(prototype, 'isPrototypeOf');
}
