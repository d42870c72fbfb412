import type { JsonObject, RunRecord, RunRequest } from '@intertie/core';
import { asFields, asNonEmptyText } from '@intertie/core/internal';
import { formatResponseId, type ResponseIdentity } from '../shared/response-object.ts';

/** Description of the context entry that holds the `instructions` of a request. */
const instructionsName = 'Instructions';

/** Fields of the request that a response repeats and that are not part of the run otherwise. */
const storedFields = [
  'background',
  'frequency_penalty',
  'max_output_tokens',
  'max_tool_calls',
  'metadata',
  'parallel_tool_calls',
  'presence_penalty',
  'previous_response_id',
  'prompt_cache_key',
  'reasoning',
  'safety_identifier',
  'service_tier',
  'store',
  'temperature',
  'text',
  'tool_choice',
  'top_logprobs',
  'top_p',
  'truncation',
  'user',
];

/** Input of a run that holds a request, so that any process can create its response again. */
export function toRunContext(
  body: JsonObject,
  { instructions, tools }: { instructions: readonly string[]; tools: NonNullable<RunRequest['tools']> },
): Pick<RunRequest, 'context' | 'tools' | 'forwardedProps'> {
  const own = asNonEmptyText(body.instructions);
  const context = [
    ...(own === undefined ? [] : [{ description: instructionsName, value: own }]),
    ...instructions.map((value) => ({ description: 'System message', value })),
  ];
  const known = storedFields.flatMap((name) => {
    const value = body[name];
    return value === undefined || value === null ? [] : [[name, value] as const];
  });
  return { context, tools, forwardedProps: { openai: Object.fromEntries(known) } };
}

/** Creates the identity of the response of a run. `from`: number of the last event before the response. */
export function toResponseIdentity(record: RunRecord, from: number): ResponseIdentity {
  const { key, agent, threadId, createdAt, resumes, wasQueued } = record;
  const { tools, context, forwardedProps } = asFields(record.input);
  const stored = asFields(asFields(forwardedProps).openai) as JsonObject;
  const previous = from > 0 ? key : resumes;
  const instructions = Array.isArray(context) ? context.map(asFields).find(isInstructions)?.value : undefined;
  return {
    id: formatResponseId({ run: key, from }),
    model: agent,
    conversation: threadId,
    previousResponseId:
      previous === undefined
        ? asNonEmptyText(stored.previous_response_id)
        : formatResponseId({ run: previous, from: 0 }),
    createdAt: createdAt.getTime(),
    wasQueued: wasQueued === true && from === 0,
    request: {
      ...stored,
      ...(typeof instructions === 'string' && { instructions }),
      tools: Array.isArray(tools) ? tools.map(toFunctionTool) : [],
    },
  };
}

function isInstructions({ description }: { readonly [key: string]: unknown }): boolean {
  return description === instructionsName;
}

function toFunctionTool(tool: unknown): JsonObject {
  const { name, description = null, inputSchema = null } = asFields(tool) as JsonObject;
  return { type: 'function', name: name ?? '', description, parameters: inputSchema, strict: null };
}
