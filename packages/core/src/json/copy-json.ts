import { capPath } from './cap-path.ts';
import { convertJson, type JsonLoss } from './convert-json.ts';
import type { Json } from './json.ts';
import { MAX_OUTER_DEPTH } from './max-depth.ts';
import { MessageFormatError } from './message-format-error.ts';

/**
 * A value as JSON that shares nothing with it, by the rules of `toJson`: bytes are base64, maps and sets are lists. What
 * would be lost (a BigInt, a function, a number that is not finite, a circle, too deep nesting) throws, with its place.
 */
export function copyJson(value: unknown, path: string): Json {
  const { json, losses } = convertJson(value, MAX_OUTER_DEPTH);
  const lost = losses.find(isLost);
  if (!lost) return json;
  const place = formatPath(path, lost.path);
  const text = `${place === '' ? 'The value' : place} cannot be kept as JSON (${lost.what}). Convert it, or leave it out.`;
  throw new MessageFormatError('invalid', place, text);
}

/** The same for what has to be kept in any case: what JSON cannot say is written as near as possible. */
export function copyNearestJson(value: unknown): Json {
  return convertJson(value, MAX_OUTER_DEPTH).json;
}

/** Whoever reads bytes, maps and sets again finds all they held. Digits in a string are not the number they were. */
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
