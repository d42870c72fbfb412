import type { AgentEvent, AgentEventType } from './event.ts';
import {
  all,
  anyJson,
  boolean,
  checkFields,
  fail,
  fields,
  id,
  inside,
  isObject,
  json,
  list,
  number,
  object,
  oneOf,
  record,
  string,
  variants,
  yes,
  type Check,
  type Failure,
  type Fields,
  type Shape,
} from './shape.ts';

/** What is wrong with a value that should be an event, and where: `path` is as in `patch[0].path`, empty for the whole. */
export type EventProblem = { path: string; message: string };

const jsonObject: Check = record((value) => (value === undefined ? undefined : json(value)));
const meta: Check = record(jsonObject);
const fault: Check = object({ message: string }, { code: string, retryable: boolean, data: anyJson });
const usage: Check = object(
  {},
  {
    provider: string,
    model: string,
    inputTokens: number,
    outputTokens: number,
    totalTokens: number,
    reasoningTokens: number,
    cacheReadTokens: number,
    cacheWriteTokens: number,
    costUsd: number,
    raw: anyJson,
  },
);
const finishReason = oneOf('stop', 'length', 'content-filter', 'tool-calls', 'error', 'interrupted', 'other');
const waiting = variants('type', {
  tool: object({ toolCallId: id }),
  question: object({ questionId: id }),
  message: object({}),
});
const outcome = variants('outcome', {
  complete: object({}),
  paused: object({ waitingFor: list(waiting) }),
  aborted: object({}, { by: oneOf('user', 'system'), reason: string }),
  error: object({ error: fault }),
});
const patch = list(
  variants('op', {
    add: object({ path: string, value: anyJson }),
    replace: object({ path: string, value: anyJson }),
    test: object({ path: string, value: anyJson }),
    remove: object({ path: string }),
    move: object({ from: string, path: string }),
    copy: object({ from: string, path: string }),
  }),
);
const toolResult = variants('status', {
  ok: object({ output: anyJson }, { content: yes, preliminary: yes }),
  error: object({ error: fault }),
  denied: object({}, { reason: string }),
});

const said: Shape = { agentId: id, stepId: id, to: list(string), internal: yes, providerMetadata: meta };
const call: Shape = {
  ...said,
  executor: oneOf('provider', 'runtime', 'client'),
  dynamic: boolean,
  title: string,
  inputEncoding: oneOf('json', 'text'),
  toolMetadata: anyJson,
};
const question: Shape = {
  toolCallId: id,
  reason: string,
  message: string,
  schema: anyJson,
  automatic: yes,
  expiresAt: string,
  providerMetadata: meta,
};
const answer: Shape = {
  approved: boolean,
  value: anyJson,
  cancelled: yes,
  reason: string,
  by: string,
  providerMetadata: meta,
};
const fileFields: Shape = { mimeType: string, filename: string, reasoning: yes };
const fileBodies: { [key: string]: Check } = {
  data: object({ data: string }, fileFields),
  url: object({ url: string }, fileFields),
  reference: object({ reference: object({ ref: string }, { provider: string }) }, fileFields),
};
const fileBody: Check = (value) => {
  const given = Object.keys(fileBodies).filter((key) => (value as { [key: string]: unknown })[key] !== undefined);
  return given.length === 1 ? fileBodies[given[0]!]!(value) : fail('exactly one of data, url and reference', given);
};
const response: Check = object({}, { id: string, modelId: string, timestamp: string });
/** Parts are open: a newer writer may know more kinds. What we know of them is checked. */
const part: Check = all(object({ type: id }, { id, ...said }), anyJson);
const content: Check = all(
  object({ parts: list(part) }, { content: string, metadata: jsonObject, providerMetadata: meta, runs: list(outcome) }),
  (value) =>
    (value as { format: unknown }).format === 2
      ? undefined
      : inside('format', fail('2', (value as { format: unknown }).format)),
  anyJson,
);

const partDelta: Check = object({ id, delta: string }, { providerMetadata: meta });
const events: { [Type in AgentEventType]: Check } = {
  'run-start': object(
    { runId: id, threadId: id, messageId: id },
    { parentMessageId: id, resumes: id, parentRunId: id },
  ),
  'message-snapshot': object({ content }),
  metadata: (value) =>
    (value as { id?: unknown }).id === undefined
      ? checkFields(value as Record<string, unknown>, messageMetadata)
      : checkFields(value as Record<string, unknown>, partMetadata),
  'run-end': all(
    outcome,
    object(
      {},
      {
        finishReason,
        rawFinishReason: string,
        usage: list(usage),
        result: anyJson,
        resume: anyJson,
        providerMetadata: meta,
      },
    ),
  ),
  'agent-start': object(
    { agentId: id, name: string, kind: oneOf('agent', 'node', 'voice') },
    { parentAgentId: id, toolCallId: id, description: string, providerMetadata: meta },
  ),
  'agent-end': all(object({ agentId: id }, { result: anyJson, usage: list(usage) }), outcome),
  'step-start': object({ stepId: id }, { agentId: id, name: string, warnings: list(anyJson) }),
  'step-end': object(
    { stepId: id },
    {
      finishReason,
      rawFinishReason: string,
      usage: list(usage),
      warnings: list(anyJson),
      response,
      discarded: yes,
      providerMetadata: meta,
    },
  ),
  'text-start': object({ id }, said),
  'text-delta': partDelta,
  'text-end': object({ id }, { citations: list(anyJson), providerMetadata: meta }),
  'reasoning-start': object({ id }, said),
  'reasoning-delta': partDelta,
  'reasoning-end': object({ id }, { providerMetadata: meta }),
  'tool-input-start': object({ toolCallId: id, toolName: string }, call),
  'tool-input-delta': object({ toolCallId: id, delta: string }, { providerMetadata: meta }),
  'tool-input-end': object({ toolCallId: id }, { providerMetadata: meta }),
  'tool-call': object({ toolCallId: id, toolName: string, input: anyJson }, { ...call, invalid: fault }),
  'tool-result': all(object({ toolCallId: id }, { providerMetadata: meta }), toolResult),
  question: object({ questionId: id, kind: oneOf('approval', 'input') }, { agentId: id, ...question }),
  answer: object({ questionId: id }, answer),
  interjection: object({ id, role: oneOf('user', 'system'), parts: list(part) }, { name: string, ...said }),
  file: all(object({ id }, said), fileBody),
  source: object(
    { id, sourceType: oneOf('url', 'document') },
    { url: string, title: string, mediaType: string, filename: string, ...said },
  ),
  data: object({ id, name: string, data: anyJson }, { transient: yes, ...said }),
  'data-delta': object({ id, patch }),
  'state-snapshot': object({ state: anyJson }),
  'state-delta': object({ patch }),
  notice: object(
    { level: oneOf('info', 'warning', 'error'), message: string },
    { code: string, agentId: string, stepId: string, toolCallId: string, data: anyJson },
  ),
  raw: object({ dialect: string, value: anyJson }),
};
const messageMetadata = fields({ metadata: jsonObject }, {});
const partMetadata = fields({ id, providerMetadata: meta }, {});
const times: Fields = fields({}, { at: number, origin: number });

/** The types of event there are, in the order of the grammar. */
export const eventTypes: readonly AgentEventType[] = Object.keys(events) as AgentEventType[];

/** Whether a name is a type of event that this version knows. */
export function isEventType(type: unknown): type is AgentEventType {
  return typeof type === 'string' && Object.hasOwn(events, type);
}

/** What is wrong with a value as an event by its shape alone; undefined if nothing is. Unknown fields are passed over. */
export function validateEvent(value: unknown): EventProblem | undefined {
  if (!isObject(value)) return describe(fail('an event: an object with a type', value));
  if (!isEventType(value.type)) return describe(inside('type', fail('a known type of event', value.type)));
  const failure = events[value.type](value) ?? checkFields(value, times);
  return failure && describe(failure, value.type);
}

/**
 * Reads an event that another version, a tape or a log has written. A type that this version does not know comes back
 * as `raw`, with all it said; a known type in a wrong shape throws a `TypeError` that names the place.
 */
export function readEvent(value: unknown): AgentEvent {
  if (isObject(value) && typeof value.type === 'string' && !isEventType(value.type) && json(value) === undefined) {
    return { type: 'raw', dialect: 'canonical', value: value as never };
  }
  const problem = validateEvent(value);
  if (problem) throw new TypeError(problem.message);
  return value as AgentEvent;
}

function describe({ path, expected, found }: Failure, type?: string): EventProblem {
  const place = type === undefined ? path : path === '' ? `"${type}"` : `${path} of "${type}"`;
  return { path, message: `${place === '' ? 'Expected' : `${place}: expected`} ${expected}, found ${show(found)}.` };
}

function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value === 'string')
    return value.length > 40 ? `${JSON.stringify(value.slice(0, 40))}…` : JSON.stringify(value);
  return typeof value === 'function' || typeof value === 'symbol' ? `a ${typeof value}` : String(value);
}
