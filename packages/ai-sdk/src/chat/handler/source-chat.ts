import { generateId, type AgentSource, type Fault } from '@intertie/core';
import { readJsonBody, toRunHeaders, type RequestLimits } from '@intertie/core/http';
import { ChatMemory } from './chat-memory.ts';
import { ChatRequestError, readChatRequest, type ChatRequest } from './chat-request.ts';
import { runChat, type ChatEncoderOptions } from './run-chat.ts';
import { toRunInput, type PrepareRun } from './to-run-input.ts';
import { parseWireJson } from '../../shared/parse-wire-json.ts';
import { writeUIMessageSSE } from '../../ui-message-stream/sse/ui-message-sse-stream.ts';
import { uiMessageStreamHeaders } from '../../ui-message-stream/sse/ui-message-sse.ts';
import type { UIMessageVersion } from '../../ui-message-stream/chunk/ui-message-chunk.ts';

export interface ChatHandlerOptions extends ChatEncoderOptions {
  /** Adds client tools, context or state to each run. May throw a `Response` to reject the request. */
  prepare?: PrepareRun<{ request: Request; body: { readonly [key: string]: unknown } }>;
  /**
   * Text of an error for the client. Default: the message of Intertie's own errors, and for others a generic sentence with
   * the run id, since messages of providers may contain keys. Log the error here: nothing else does.
   */
  errorText?: (error: Fault) => string;
  /** Idle time in milliseconds before a comment is sent, so that proxies keep the connection. Default: 15 seconds. */
  keepAliveMs?: number;
  /** Whether the client may send `system` messages. Default: false, since the model would treat them like instructions. */
  allowSystemMessages?: boolean;
  /** Limits of the request body, its JSON and its messages. */
  limits?: Partial<RequestLimits>;
  generateId?: () => string;
  now?: () => number;
}

/** Serves a chat of a source without a store: the client sends the history. Throws if the request cannot be served. */
export function createSourceChat(
  source: AgentSource,
  options: ChatHandlerOptions,
): (request: Request) => Promise<Response> {
  const { prepare, errorText, keepAliveMs = 15_000, limits, allowSystemMessages = false, ...rest } = options;
  const { generateId: createId = generateId, now = Date.now, ...encoding } = rest;
  const { onLoss = () => undefined } = encoding;
  const memory = new ChatMemory();

  return async (request) => {
    const body = await readJsonBody(request, { limits, parse: parseWireJson });
    const chatRequest = readChatRequest(body, { generateId: createId, limits });
    if (!allowSystemMessages) rejectSystemMessages(chatRequest);
    const run = toRunInput(chatRequest, { memory, generateId: createId, now, onLoss });
    const prepared = await prepare?.(run, { request, body: body as { readonly [key: string]: unknown } });
    const { signal } = request;
    const chatOptions = { ...encoding, onLoss, signal, memory, errorText };
    const chunks = runChat<UIMessageVersion>(source, { ...run, ...prepared }, chatOptions);
    return new Response(writeUIMessageSSE(chunks, { keepAliveMs }), {
      headers: { ...uiMessageStreamHeaders, ...toRunHeaders(run) },
    });
  };
}

function rejectSystemMessages({ messages }: ChatRequest): void {
  const index = messages.findIndex(({ role }) => role === 'system');
  if (index === -1) return;
  throw new ChatRequestError(
    `messages[${index}].role is "system", which this route does not accept from clients. ` +
      'Configure instructions in the source, or set allowSystemMessages.',
  );
}
