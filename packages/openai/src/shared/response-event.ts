import type { JsonObject } from '@intertie/core';

/** `openai`: the Responses API as OpenAI serves it. `open-responses`: the Open Responses specification. */
export type Flavour = 'openai' | 'open-responses';

/** Item of a response's `output`, for example a message or a tool call. */
export type OutputItem = JsonObject & { type: string; id: string };

/** Server-sent event of the Responses API. `sequence_number` is the cursor for `starting_after`. */
export type ResponseEvent = JsonObject & { type: string; sequence_number: number };

/** Response object: one run of an agent. */
export type ResponseObject = JsonObject & { id: string; status: string; output: OutputItem[] };

/** Events that end a response. */
export const terminalEvents: ReadonlySet<string> = new Set([
  'response.completed',
  'response.failed',
  'response.incomplete',
]);
