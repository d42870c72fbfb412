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
  question,
  response,
  attribution,
  sourceFields,
  usage,
} from './body-shapes.ts';
import {
  all,
  anyJson,
  anyValue,
  fail,
  id,
  prefixPath,
  list,
  object,
  number,
  oneOf,
  outerJson,
  record,
  string,
  literalTrue,
  type Check,
  type Shape,
} from '../json/shape.ts';

const partBase: Check = object({ type: id }, { id, ...attribution });
const asked: Shape = { ...question, answer: object({ questionId: id }, answer) };
const questionIdentity: Shape = { questionId: id, kind: oneOf('approval', 'input') };

const bodies: { [type: string]: Check } = {
  text: object({ text: string }, { citations: list(anyValue) }),
  reasoning: object({ reasoning: string }),
  'tool-invocation': object(
    { toolCallId: id, toolName: string, state: oneOf('partial-call', 'call', 'result', 'error', 'denied') },
    {
      ...call,
      argsText: string,
      preliminary: literalTrue,
      invalid: literalTrue,
      error: fault,
      approval: object(questionIdentity, asked),
      resultContent: literalTrue,
      resultMetadata: meta,
    },
  ),
  question: object(questionIdentity, asked),
  file: fileBody,
  source: object({}, { sourceType: oneOf('url', 'document'), ...sourceFields }),
  data: object({ data: anyValue }, { name: string }),
  interjection: object({ role: oneOf('user', 'system'), parts: list(part) }, { name: string }),
};

/** Accepts parts of an unknown type unchanged: a newer version may have written them. */
function part(value: unknown): ReturnType<Check> {
  const failure = partBase(value);
  if (failure) return failure;
  const { type } = value as { type: string };
  return Object.hasOwn(bodies, type) ? bodies[type]!(value) : undefined;
}

const agent: Check = object(
  { name: string, kind: oneOf('agent', 'node', 'voice') },
  {
    parentAgentId: id,
    toolCallId: id,
    description: string,
    providerMetadata: meta,
    outcome: oneOf('complete', 'paused', 'aborted', 'error'),
    error: fault,
    result: anyJson,
    usage: list(usage),
  },
);
const step: Check = object(
  {},
  {
    agentId: id,
    name: string,
    finishReason,
    rawFinishReason: string,
    usage: list(usage),
    response,
    providerMetadata: meta,
  },
);
const run: Check = all(
  object({ runId: id }, { finishReason, rawFinishReason: string, usage: list(usage), result: anyJson, parts: number }),
  outcome,
);

/** Checks the content of a message, format 2. */
export const content: Check = (value) => {
  if (!isFields(value)) return fail('an object', value);
  return value.format === 2 ? body(value) : prefixPath('format', fail('2', value.format));
};
/** Checks the depth first, because interjections hold parts recursively. */
export const parts: Check = all(outerJson, list(part));
const body: Check = object(
  { parts },
  {
    content: string,
    metadata: jsonObject,
    providerMetadata: meta,
    agents: record(agent),
    steps: record(step),
    runs: list(run),
  },
);
