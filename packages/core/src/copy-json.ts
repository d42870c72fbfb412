import { encodeBase64 } from './base64.ts';
import type { Json, JsonObject } from './json.ts';
import { MessageFormatError } from './message-format-error.ts';
import { setOwn } from './set-own.ts';

/** Deeper values are refused instead of overflowing the stack, here or in a later `JSON.stringify`. */
const maxDepth = 500;

/**
 * A value as JSON that shares nothing with it, by the rules of `JSON.stringify` (undefined fields and functions are left
 * out, a date is its ISO string, a number that is not finite is null) and one more: bytes are base64.
 * What JSON cannot say throws, with its place.
 */
export function copyJson(value: unknown, path: string): Json {
  return copy(value, path, 0) ?? null;
}

function copy(value: unknown, path: string, depth: number): Json | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      // JSON has no negative zero.
      return Number.isFinite(value) ? value + 0 : null;
    case 'object':
      return value === null ? null : copyObject(value, path, depth);
    case 'bigint':
      throw new MessageFormatError('invalid', path, `${path} is a bigint, which JSON cannot hold. Make it a string.`);
    default:
      return undefined;
  }
}

function copyObject(value: object, path: string, depth: number): Json | undefined {
  if (depth === maxDepth) {
    const advice = 'Is it part of itself? If not, store it as a file.';
    throw new MessageFormatError('invalid', path, `${path} is nested more than ${maxDepth} deep. ${advice}`);
  }
  if (value instanceof Uint8Array) return encodeBase64(value);
  if ('toJSON' in value && typeof value.toJSON === 'function') return copy(value.toJSON(), path, depth + 1);
  if (Array.isArray(value)) return value.map((item, index) => copy(item, `${path}[${index}]`, depth + 1) ?? null);
  const copied: JsonObject = {};
  for (const [key, item] of Object.entries(value)) {
    const json = copy(item, path === '' ? key : `${path}.${key}`, depth + 1);
    if (json !== undefined) setOwn(copied, key, json);
  }
  return copied;
}
