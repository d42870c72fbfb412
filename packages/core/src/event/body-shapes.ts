import { isBase64 } from '../json/is-base64.ts';
import {
  anyJson,
  boolean,
  fail,
  id,
  json,
  list,
  number,
  object,
  oneOf,
  record,
  string,
  variants,
  literalTrue,
  type Check,
  type Shape,
} from '../json/shape.ts';

// Checks that are shared by events and stored parts.

export const jsonObject: Check = record((value) => (value === undefined ? undefined : json(value)));
export const meta: Check = record(jsonObject);
export const fault: Check = object({ message: string }, { code: string, retryable: boolean, data: anyJson });
export const usage: Check = object(
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
export const finishReason: Check = oneOf(
  'stop',
  'length',
  'content-filter',
  'tool-calls',
  'error',
  'interrupted',
  'other',
);
const waiting = variants('type', {
  tool: object({ toolCallId: id }),
  question: object({ questionId: id }),
  message: object({}),
});
export const outcome: Check = variants('outcome', {
  complete: object({}),
  paused: object({ waitingFor: list(waiting) }),
  aborted: object({}, { by: oneOf('user', 'system'), reason: string }),
  error: object({ error: fault }),
});
export const patch: Check = list(
  variants('op', {
    add: object({ path: string, value: anyJson }),
    replace: object({ path: string, value: anyJson }),
    test: object({ path: string, value: anyJson }),
    remove: object({ path: string }),
    move: object({ from: string, path: string }),
    copy: object({ from: string, path: string }),
  }),
);
export const toolResult: Check = variants('status', {
  ok: object({ output: anyJson }, { content: literalTrue, preliminary: literalTrue }),
  error: object({ error: fault }),
  denied: object({}, { reason: string }),
});

export const attribution: Shape = {
  agentId: id,
  stepId: id,
  to: list(string),
  internal: literalTrue,
  providerMetadata: meta,
};
export const call: Shape = {
  ...attribution,
  executor: oneOf('provider', 'runtime', 'client'),
  dynamic: boolean,
  title: string,
  inputEncoding: oneOf('json', 'text'),
  toolMetadata: anyJson,
};
export const question: Shape = {
  toolCallId: id,
  reason: string,
  message: string,
  schema: anyJson,
  automatic: literalTrue,
  expiresAt: string,
  providerMetadata: meta,
};
export const answer: Shape = {
  approved: boolean,
  value: anyJson,
  cancelled: literalTrue,
  reason: string,
  by: string,
  providerMetadata: meta,
};
const fileFields: Shape = { mimeType: string, filename: string, reasoning: literalTrue };
const urlStart = /^[a-z][a-z0-9+.-]{0,30}:/i;
const base64: Check = (value) => {
  if (typeof value !== 'string') return string(value);
  if (isBase64(value)) return undefined;
  return fail(urlStart.test(value) ? 'base64; use `url` for a URL' : 'base64, padded with "="', value);
};
const fileBodies: { [key: string]: Check } = {
  data: object({ data: base64 }, fileFields),
  url: object({ url: string }, fileFields),
  reference: object({ reference: object({ ref: string }, { provider: string }) }, fileFields),
};
export const fileBody: Check = (value) => {
  const given = Object.keys(fileBodies).filter((key) => (value as { [key: string]: unknown })[key] !== undefined);
  return given.length === 1 ? fileBodies[given[0]!]!(value) : fail('exactly one of data, url and reference', given);
};
export const sourceFields: Shape = { url: string, title: string, mediaType: string, filename: string };
export const response: Check = object({}, { id: string, modelId: string, timestamp: string });
