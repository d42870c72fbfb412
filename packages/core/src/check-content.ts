import { MessageFormatError } from './message-format-error.ts';

/** Looks at the value at a path and throws a `MessageFormatError` if it is not what belongs there. */
export type Check = (value: unknown, path: string) => void;

function refuse(path: string, expected: string, found: unknown): never {
  const place = path === '' ? 'The message' : path;
  throw new MessageFormatError('invalid', path, `${place} has to be ${expected}, but is ${describe(found)}.`);
}

function describe(value: unknown): string {
  if (value === undefined) return 'absent';
  if (value === null) return 'null';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  if (typeof value === 'number' || typeof value === 'boolean') return `the ${typeof value} ${value}`;
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

export const string: Check = (value, path) => {
  if (typeof value !== 'string') refuse(path, 'a string', value);
};
export const id: Check = (value, path) => {
  if (typeof value !== 'string' || value === '') refuse(path, 'a string that is not empty', value);
};
const boolean: Check = (value, path) => {
  if (typeof value !== 'boolean') refuse(path, 'true or false', value);
};
const yes: Check = (value, path) => {
  if (value !== true) refuse(path, 'true, or left out', value);
};
const present: Check = (value, path) => {
  if (value === undefined) refuse(path, 'there', value);
};

export function oneOf(...options: string[]): Check {
  return (value, path) => {
    if (!options.includes(value as string)) refuse(path, `one of ${options.join(', ')}`, value);
  };
}

export function optional(check: Check): Check {
  return (value, path) => {
    if (value !== undefined) check(value, path);
  };
}

function list(check: Check): Check {
  return (value, path) => {
    if (!Array.isArray(value)) return refuse(path, 'a list', value);
    for (const [index, item] of value.entries()) check(item, `${path}[${index}]`);
  };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An object with these fields. Others are passed over, and what a prototype has is not looked at. */
export function shape(fields: { [key: string]: Check }): Check {
  return (value, path) => {
    if (!isObject(value)) return refuse(path, 'an object', value);
    for (const [key, check] of Object.entries(fields)) {
      check(Object.hasOwn(value, key) ? value[key] : undefined, path === '' ? key : `${path}.${key}`);
    }
  };
}

function directory(check: Check): Check {
  return (value, path) => {
    if (!isObject(value)) return refuse(path, 'an object', value);
    for (const [key, item] of Object.entries(value)) check(item, `${path}.${key}`);
  };
}

const object = shape({});
const meta = directory(object);
const fault = shape({ message: string, code: optional(string), retryable: optional(boolean) });
const outcome = oneOf('complete', 'paused', 'aborted', 'error');
const answer = shape({
  questionId: id,
  approved: optional(boolean),
  cancelled: optional(yes),
  reason: optional(string),
  by: optional(string),
});
const question = { questionId: id, kind: oneOf('approval', 'input'), answer: optional(answer) };

const fileBodies = ['data', 'url', 'reference'];
const file: Check = (value, path) => {
  const part = value as Record<string, unknown>;
  const bodies = fileBodies.filter((key) => Object.hasOwn(part, key) && part[key] !== undefined);
  if (bodies.length !== 1) {
    const found = bodies.length === 0 ? 'none of them' : bodies.join(' and ');
    const text = `${path} has to be a file with one of ${fileBodies.join(', ')}, but has ${found}.`;
    throw new MessageFormatError('invalid', path, text);
  }
  shape({ data: optional(string), url: optional(string), reference: optional(shape({ ref: string })) })(part, path);
};

const kept = shape({
  type: id,
  id: optional(id),
  agentId: optional(id),
  stepId: optional(id),
  to: optional(list(string)),
  internal: optional(yes),
  providerMetadata: optional(meta),
});

const bodies: { [type: string]: Check } = {
  text: shape({ text: string, citations: optional(list(present)) }),
  reasoning: shape({ reasoning: string }),
  'tool-invocation': shape({
    toolCallId: id,
    toolName: string,
    state: oneOf('partial-call', 'call', 'result', 'error', 'denied'),
    argsText: optional(string),
    preliminary: optional(yes),
    invalid: optional(yes),
    error: optional(fault),
    approval: optional(shape(question)),
    executor: optional(oneOf('provider', 'runtime', 'client')),
    resultMetadata: optional(meta),
  }),
  question: shape(question),
  file,
  source: shape({ sourceType: optional(oneOf('url', 'document')), url: optional(string), title: optional(string) }),
  data: shape({ name: optional(string), data: present }),
  interjection: shape({ role: oneOf('user', 'system'), name: optional(string), parts: list(checkPart) }),
};

/** A part of an unknown type is left as it is: a newer version wrote it, and will read it again. */
function checkPart(value: unknown, path: string): void {
  kept(value, path);
  const { type } = value as { type: string };
  if (Object.hasOwn(bodies, type)) bodies[type]!(value, path);
}

/** The content of a message, format 2. */
export const checkContent: Check = shape({
  parts: list(checkPart),
  content: optional(string),
  metadata: optional(object),
  providerMetadata: optional(meta),
  agents: optional(directory(shape({ name: string, kind: string, outcome: optional(outcome) }))),
  steps: optional(directory(object)),
  runs: optional(list(shape({ runId: id, outcome }))),
});
