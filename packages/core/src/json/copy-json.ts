import { capPath } from './cap-path.ts';
import { convertJson, type JsonLoss } from './convert-json.ts';
import type { Json } from './json.ts';
import { MAX_OUTER_DEPTH } from './max-depth.ts';
import { MessageFormatError } from './message-format-error.ts';

/**
 * Copies a value as JSON by the rules of `toJson`: bytes become base64, maps and sets become lists. A value that would be lost (a
 * BigInt, a function, a number that is not finite, a circular reference, too deep nesting) throws an error that names its place.
 */
export function copyJson(value: unknown, path: string): Json {
  const { json, losses } = convertJson(value, MAX_OUTER_DEPTH);
  const lost = losses.find(isLost);
  if (!lost) return json;
  const place = formatPath(path, lost.path);
  const subject = place === '' ? 'The value' : place;
  const text = `${subject} cannot be stored as JSON (${lost.what}). Convert it, or omit it.`;
  throw new MessageFormatError('invalid', place, text);
}

/** Copies any value as JSON without throwing. Values that JSON cannot represent are replaced, as in `toJson`. */
export function copyNearestJson(value: unknown): Json {
  return convertJson(value, MAX_OUTER_DEPTH).json;
}

/** Bytes, maps and sets can be restored from their JSON. A BigInt cannot, because it becomes an ordinary string. */
function isLost({ kind, what }: JsonLoss): boolean {
  return kind !== 'repaired' || what === 'BigInt';
}

function formatPath(path: string, inside: JsonLoss['path']): string {
  let place = path;
  for (const key of inside) {
    if (typeof key === 'number') place += `[${key}]`;
    else place += place === '' ? capPath(key) : `.${capPath(key)}`;
    if (place !== capPath(place)) break;
  }
  return capPath(place);
}
