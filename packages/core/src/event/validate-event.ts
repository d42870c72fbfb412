import { isFields } from '../json/fields.ts';
import {
  answer,
  call,
  fault,
  fileBody,
  finishReason,
  jsonObject,
  meta,
  outcome,
  patch,
  question,
  response,
  attribution,
  sourceFields,
  toolResult,
  usage,
} from './body-shapes.ts';
import { content, parts } from './content-shape.ts';
import type { AgentEvent, AgentEventType } from './event.ts';
import type { JsonObject } from '../json/json.ts';
import { messageUpgrades, upgradeContent } from './message-upgrades.ts';
import {
  all,
  anyJson,
  explain,
  fail,
  id,
  prefixPath,
  json,
  list,
  number,
  object,
  oneOf,
  string,
  literalTrue,
  type Check,
  type Failure,
  type Shape,
} from '../json/shape.ts';

/** Reason why a value is not an event. `path` is the place, such as `patch[0].path`; empty for the complete value. */
export type EventProblem = { path: string; message: string };

/** Every event may have a time and the index of its source frame. */
const event = (required: Shape, optional: Shape = {}): Check =>
  object(required, { ...optional, at: number, origin: number });
const partDelta: Check = event({ id, delta: string }, { providerMetadata: meta });
const messageMetadata: Check = event({ metadata: jsonObject });
const partMetadata: Check = event({ id, providerMetadata: meta });
const events: { [Type in AgentEventType]: Check } = {
  'run-start': event({ runId: id, threadId: id, messageId: id }, { parentMessageId: id, resumes: id, parentRunId: id }),
  'message-snapshot': event({ content }),
  metadata: (value) => ((value as { id?: unknown }).id === undefined ? messageMetadata : partMetadata)(value),
  'run-end': all(
    outcome,
    event(
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
  'agent-start': event(
    { agentId: id, name: string, kind: oneOf('agent', 'node', 'voice') },
    { parentAgentId: id, toolCallId: id, description: string, providerMetadata: meta },
  ),
  'agent-end': all(event({ agentId: id }, { result: anyJson, usage: list(usage) }), outcome),
  'step-start': event({ stepId: id }, { agentId: id, name: string, warnings: list(anyJson) }),
  'step-end': event(
    { stepId: id },
    {
      finishReason,
      rawFinishReason: string,
      usage: list(usage),
      warnings: list(anyJson),
      response,
      discarded: literalTrue,
      providerMetadata: meta,
    },
  ),
  'text-start': event({ id }, attribution),
  'text-delta': partDelta,
  'text-end': event({ id }, { citations: list(anyJson), providerMetadata: meta }),
  'reasoning-start': event({ id }, attribution),
  'reasoning-delta': partDelta,
  'reasoning-end': event({ id }, { providerMetadata: meta }),
  'tool-input-start': event({ toolCallId: id, toolName: string }, call),
  'tool-input-delta': event({ toolCallId: id, delta: string }, { providerMetadata: meta }),
  'tool-input-end': event({ toolCallId: id }, { providerMetadata: meta }),
  'tool-call': event({ toolCallId: id, toolName: string, input: anyJson }, { ...call, invalid: fault }),
  'tool-result': all(event({ toolCallId: id }, { providerMetadata: meta }), toolResult),
  question: event({ questionId: id, kind: oneOf('approval', 'input') }, { agentId: id, ...question }),
  answer: event({ questionId: id }, answer),
  interjection: event({ id, role: oneOf('user', 'system'), parts }, { name: string, ...attribution }),
  file: all(event({ id }, attribution), fileBody),
  source: event({ id, sourceType: oneOf('url', 'document') }, { ...sourceFields, ...attribution }),
  data: event({ id, name: string, data: anyJson }, { transient: literalTrue, ...attribution }),
  'data-delta': event({ id, patch }),
  'state-snapshot': event({ state: anyJson }),
  'state-delta': event({ patch }),
  notice: event(
    { level: oneOf('info', 'warning', 'error'), message: string },
    { code: string, agentId: string, stepId: string, toolCallId: string, data: anyJson },
  ),
  checkpoint: event({ token: anyJson }),
  raw: event({ dialect: string, value: anyJson }),
};
const checks: ReadonlyMap<unknown, Check> = new Map(Object.entries(events));

/** All event types, in the order of the grammar. */
export const eventTypes: readonly AgentEventType[] = Object.keys(events) as AgentEventType[];

/** Whether this version knows an event type. */
export function isEventType(type: unknown): type is AgentEventType {
  return checks.has(type);
}

/** Checks the shape of an event. Returns undefined if it is valid. Unknown fields are ignored. */
export function validateEvent(value: unknown): EventProblem | undefined {
  if (!isFields(value)) return describe(fail('an event: an object with a type', value));
  const check = checks.get(value.type);
  if (check === undefined) return describe(prefixPath('type', fail('a known type of event', value.type)));
  const failure = check(value);
  return failure && describe(failure, value.type as AgentEventType);
}

/**
 * Reads an event from a tape, a log or another version. An unknown type is returned as `raw` with all its fields. A known type in
 * an invalid shape throws a `TypeError` that names the place. The content of a snapshot is upgraded to the current format; a newer
 * format throws a `MessageFormatError`.
 */
export function readEvent(value: unknown): AgentEvent {
  if (isFields(value) && typeof value.type === 'string' && !isEventType(value.type) && json(value) === undefined) {
    return { type: 'raw', dialect: 'canonical', value: value as JsonObject };
  }
  const upgraded = isSnapshot(value) ? { ...value, content: upgradeContent(value.content, messageUpgrades) } : value;
  const problem = validateEvent(upgraded);
  if (problem) throw new TypeError(problem.message);
  return upgraded as AgentEvent;
}

function isSnapshot(value: unknown): value is { content: JsonObject } {
  return isFields(value) && value.type === 'message-snapshot' && isFields(value.content) && value.content.format !== 2;
}

function describe(failure: Failure, type?: string): EventProblem {
  const { path } = failure;
  const place = type === undefined ? path : path === '' ? `"${type}"` : `${path} of "${type}"`;
  return { path, message: explain(failure, place) };
}
