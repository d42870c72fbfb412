import { convertJson } from './convert-json.ts';
import type { Json } from './json.ts';
import type { OnLoss } from './loss.ts';
import { MAX_DEPTH } from './max-depth.ts';

/** Maximum number of objects that are checked for being JSON already. */
const FAST_NODES = 10_000;
/** Maximum length of a JSON pointer in a loss. */
const MAX_TEXT = 200;

/**
 * Converts any value to JSON. Never throws, and takes time linear in the size of the value, even if parts of it are shared. Values
 * that JSON cannot represent are converted to the nearest ones and reported, once per cause.
 *
 * - A value that already is JSON is returned itself, not a copy.
 * - As `JSON.stringify` does, and therefore without a report: `undefined` (dropped from objects, `null` in arrays), `Date`,
 *   `toJSON`, boxed primitives, own enumerable keys only.
 * - Reported as `repaired`: BigInt (decimal string), bytes (base64), `Map` and `Set` (arrays), other typed arrays.
 * - Reported as `unsupported`: functions and symbols, NaN and infinities (`null`), invalid dates (`null`), circular
 *   references and too deep nesting (a marker), getters and `toJSON` that throw.
 * - An `Error` keeps its name, message, cause and own fields, but not its stack, which would expose the server to clients.
 */
export function toJson(value: unknown, onLoss?: OnLoss, maxDepth: number = MAX_DEPTH): Json {
  try {
    if (isJson(value, { nodes: FAST_NODES }, maxDepth)) return value;
  } catch {
    // A getter or a proxy threw. The slow path reports where.
  }
  const { json, losses } = convertJson(value, maxDepth);
  for (const { kind, what, why, path, count } of losses) {
    const others = count > 1 ? ` and ${count - 1} more` : '';
    onLoss?.({ kind, what: `${what}${formatPointer(path)}${others}`, why });
  }
  return json;
}

/** Does not track visited objects: the budget bounds shared values, and the depth bounds circular ones. */
function isJson(value: unknown, budget: { nodes: number }, depth: number): value is Json {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true;
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0);
    case 'object':
      break;
    default:
      return false;
  }
  if (value === null) return true;
  budget.nodes -= 1;
  if (depth === 0 || budget.nodes < 0) return false;
  if (Array.isArray(value)) {
    if (Object.getPrototypeOf(value) !== Array.prototype) return false;
    for (const item of value) if (!isJson(item, budget, depth - 1)) return false;
    return true;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  for (const key of Object.keys(value)) {
    if (!isJson((value as { [key: string]: unknown })[key], budget, depth - 1)) return false;
  }
  return true;
}

function formatPointer(path: ReadonlyArray<string | number>): string {
  if (path.length === 0) return '';
  let pointer = '';
  for (const key of path) {
    pointer += `/${String(key).slice(0, MAX_TEXT).replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (pointer.length > MAX_TEXT) return ` at ${pointer.slice(0, MAX_TEXT)}…`;
  }
  return ` at ${pointer}`;
}
