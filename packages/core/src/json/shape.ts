import { capPath } from './cap-path.ts';
import { isFields } from './fields.ts';
import { MAX_DEPTH, MAX_OUTER_DEPTH } from './max-depth.ts';

/**
 * Checks a value, and names the place and the expectation if it fails. Checks allocate only on failure: they iterate keys with
 * `for … in`, which allocates no list, and look at inherited keys only after a failure.
 */
export type Check = (value: unknown) => Failure | undefined;
export type Failure = { path: string; expected: string; found: unknown };
type FieldChecks = {
  readonly inOrder: readonly Field[];
  readonly byKey: ReadonlyMap<string, Field>;
  /** Number of required fields. */
  readonly required: number;
};
type Field = { readonly key: string; readonly check: Check; readonly required: boolean };
export type Shape = { [key: string]: Check };

export const fail = (expected: string, found: unknown, path = ''): Failure => ({ path, expected, found });
export const prefixPath = (key: string, failure: Failure): Failure => ({
  ...failure,
  path: capPath(
    capPath(key) + (failure.path === '' || failure.path.startsWith('[') ? failure.path : `.${failure.path}`),
  ),
});

export const string: Check = (value) => (typeof value === 'string' ? undefined : fail('a string', value));
export const id: Check = (value) =>
  typeof value === 'string' && value !== '' ? undefined : fail('a non-empty string', value);
export const number: Check = (value) => (Number.isFinite(value) ? undefined : fail('a finite number', value));
export const boolean: Check = (value) => (typeof value === 'boolean' ? undefined : fail('a boolean', value));
/** Accepts any value except undefined. */
export const anyValue: Check = () => undefined;
export const literalTrue: Check = (value) => (value === true ? undefined : fail('true or no value', value));

export function oneOf(...options: string[]): Check {
  const expected = options.map((option) => `"${option}"`).join(' or ');
  return (value) => (options.includes(value as string) ? undefined : fail(expected, value));
}

export function list(check: Check): Check {
  return (value) => {
    if (!Array.isArray(value)) return fail('a list', value);
    for (let index = 0; index < value.length; index++) {
      const failure = check(value[index]);
      if (failure) return prefixPath(`[${index}]`, failure);
    }
    return undefined;
  };
}

/** Checks that a value is JSON, in time linear in its size. Undefined properties are ignored. */
export function json(value: unknown, depth = 0): Failure | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (typeof value === 'number') return number(value);
  if (typeof value !== 'object') return fail('JSON', value);
  // Prevents a stack overflow.
  if (depth === MAX_DEPTH) return fail(`JSON nested at most ${MAX_DEPTH} deep`, value);
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const failure = json(value[index], depth + 1);
      if (failure) return prefixPath(`[${index}]`, failure);
    }
    return undefined;
  }
  const prototype = Object.getPrototypeOf(value) as unknown;
  if (prototype !== Object.prototype && prototype !== null) return fail('a plain JSON object', value);
  for (const key in value) {
    const item = (value as Record<string, unknown>)[key];
    const failure = item === undefined ? undefined : json(item, depth + 1);
    if (failure && Object.hasOwn(value, key)) return prefixPath(key, failure);
  }
  return undefined;
}
export const anyJson: Check = (value) => json(value);
/** Checks JSON that holds values of the depth that `anyJson` accepts. */
export const outerJson: Check = (value) => json(value, MAX_DEPTH - MAX_OUTER_DEPTH);

function toFieldChecks(required: Shape, optional: Shape): FieldChecks {
  const inOrder = [
    ...Object.entries(required).map(([key, check]) => ({ key, check, required: true })),
    ...Object.entries(optional).map(([key, check]) => ({ key, check, required: false })),
  ];
  const byKey = new Map(inOrder.map((field) => [field.key, field]));
  return { inOrder, byKey, required: Object.keys(required).length };
}

/** Ignores unknown fields: they may come from a newer version. */
function checkFields(value: Record<string, unknown>, shape: FieldChecks): Failure | undefined {
  return hasFields(value, shape) ? undefined : findFailure(value, shape);
}

/** Looks only at present fields: most fields of most events are absent, and absent fields are the slowest to look up. */
function hasFields(value: Record<string, unknown>, shape: FieldChecks): boolean {
  // A plain object inherits no fields that could pass as its own.
  if (Object.getPrototypeOf(value) !== Object.prototype) return false;
  let required = 0;
  for (const key in value) {
    const field = shape.byKey.get(key);
    if (field === undefined) continue;
    const item = value[key];
    if (item === undefined) continue;
    if (field.check(item) !== undefined) return false;
    if (field.required) required += 1;
  }
  return required === shape.required;
}

function findFailure(value: Record<string, unknown>, shape: FieldChecks): Failure | undefined {
  for (const { key, check, required } of shape.inOrder) {
    const item = Object.hasOwn(value, key) ? value[key] : undefined;
    if (item === undefined) {
      if (required) return prefixPath(key, fail('a value', item));
      continue;
    }
    const failure = check(item);
    if (failure) return prefixPath(key, failure);
  }
  return undefined;
}

export function object(required: Shape, optional: Shape = {}): Check {
  const shape = toFieldChecks(required, optional);
  return (value) => (isFields(value) ? checkFields(value, shape) : fail('an object', value));
}

export function record(check: Check): Check {
  return (value) => {
    if (!isFields(value)) return fail('an object', value);
    for (const key in value) {
      const failure = check(value[key]);
      if (failure && Object.hasOwn(value, key)) return prefixPath(key, failure);
    }
    return undefined;
  };
}

/** Checks a union that is discriminated by one field. */
export function variants(key: string, shapes: { [variant: string]: Check }): Check {
  const tag = oneOf(...Object.keys(shapes));
  return (value) => {
    if (!isFields(value)) return fail('an object', value);
    const wrong = tag(value[key]);
    return wrong ? prefixPath(key, wrong) : shapes[value[key] as string]!(value);
  };
}

export function all(...checks: Check[]): Check {
  return (value) => {
    for (const check of checks) {
      const failure = check(value);
      if (failure) return failure;
    }
    return undefined;
  };
}

/** Describes a failure: `parts[0].text: expected a string, found 1.` */
export function explain({ expected, found }: Failure, place: string): string {
  return `${place === '' ? 'Expected' : `${place}: expected`} ${expected}, found ${describeValue(found)}.`;
}

function describeValue(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  switch (typeof value) {
    case 'undefined':
      return 'nothing';
    case 'string':
      return value.length > 40 ? `${JSON.stringify(value.slice(0, 40))}…` : JSON.stringify(value);
    case 'object':
      return value === null ? 'null' : 'an object';
    case 'function':
    case 'symbol':
      return `a ${typeof value}`;
    default:
      return String(value);
  }
}
