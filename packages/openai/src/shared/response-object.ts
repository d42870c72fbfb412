import type { Json, JsonObject } from '@intertie/core';
import { asFields, asNonEmptyText } from '@intertie/core/internal';
import type { Flavour, OutputItem, ResponseObject } from './response-event.ts';

/** Identity of a response, and the fields of the request that it repeats. */
export type ResponseIdentity = {
  id: string;
  /** Name of the agent. */
  model: string;
  /** Thread of the run. */
  conversation?: string | undefined;
  previousResponseId?: string | undefined;
  /** Milliseconds since 1970. */
  createdAt: number;
  /** Whether the run had to wait for another run of its thread. */
  wasQueued?: boolean;
  /** Fields of the request, as the client sent them. */
  request?: JsonObject | undefined;
};

/** Request fields that a response repeats, with the values for a request without them. */
const repeatedFields: JsonObject = {
  background: false,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  prompt_cache_key: null,
  safety_identifier: null,
  service_tier: 'default',
  store: true,
  temperature: 1,
  tool_choice: 'auto',
  top_logprobs: 0,
  top_p: 1,
  truncation: 'disabled',
  user: null,
};

/** Creates the fields of a response that do not change. Clients require every field to be present. */
export function createResponseFields(identity: ResponseIdentity, flavour: Flavour): JsonObject & { id: string } {
  const { id, model, conversation, previousResponseId = null, createdAt, request = {} } = identity;
  const { reasoning, text, tools } = request;
  const repeated = Object.entries(repeatedFields).map(([name, value]) => [name, request[name] ?? value]);
  return {
    id,
    object: 'response',
    created_at: Math.floor(createdAt / 1000),
    model,
    previous_response_id: previousResponseId,
    ...(flavour === 'openai' && { conversation: conversation === undefined ? null : { id: conversation } }),
    ...Object.fromEntries(repeated),
    reasoning: { effort: null, summary: null, ...(asFields(reasoning) as JsonObject) },
    text: { format: { type: 'text' }, ...(asFields(text) as JsonObject) },
    tools: Array.isArray(tools) ? tools.map(completeTool) : [],
    frequency_penalty: request.frequency_penalty ?? 0,
    presence_penalty: request.presence_penalty ?? 0,
  };
}

/** Adds the fields of a function tool that clients may omit in a request and require in a response. */
function completeTool(tool: Json): Json {
  const fields = asFields(tool) as JsonObject;
  if (fields.type !== 'function') return tool;
  return { strict: null, description: null, parameters: null, ...fields };
}

/** The part of a response that changes during a run. */
export type ResponseProgress = {
  status: 'queued' | 'in_progress' | 'completed' | 'failed' | 'incomplete' | 'cancelled';
  output: OutputItem[];
  completedAt?: number | undefined;
  error?: { code: string; message: string } | undefined;
  /** Why the response is incomplete. */
  reason?: string | undefined;
  usage?: JsonObject | undefined;
};

export function createResponse(fields: JsonObject & { id: string }, progress: ResponseProgress): ResponseObject {
  const { status, output, completedAt, error, reason, usage } = progress;
  return {
    ...fields,
    status,
    completed_at: completedAt === undefined ? null : Math.floor(completedAt / 1000),
    error: error ?? null,
    incomplete_details: reason === undefined ? null : { reason },
    output,
    usage: usage ?? null,
  };
}

const prefix = 'resp_';

/** Id of a response: the key of its run, and the number of the last event before it if the run waited in its process. */
export type ResponseId = { run: string; from: number };

export function formatResponseId({ run, from }: ResponseId): string {
  return from === 0 ? `${prefix}${run}` : `${prefix}${run}.${from}`;
}

/** Returns undefined for a text that is not the id of a response. */
export function parseResponseId(id: unknown): ResponseId | undefined {
  const [, run, from = '0'] = /^resp_([^.]{1,200})(?:\.(\d{1,15}))?$/.exec(asNonEmptyText(id) ?? '') ?? [];
  return run === undefined ? undefined : { run, from: Number(from) };
}
