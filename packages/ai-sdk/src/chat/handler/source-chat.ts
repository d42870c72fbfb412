import { generateId, type AgentSource, type Fault } from '@intertie/core';
import { readJsonBody, toRunHeaders, type RequestLimits } from '@intertie/core/http';
import { ChatMemory } from './chat-memory.ts';
import { ChatRequestError, readChatRequest, type ChatRequest } from './chat-request.ts';
import { runChat, type ChatEncoderOptions } from './chat-run.ts';
import { toRunInput } from './read-chat-request.ts';
import { parseWireJson } from '../../shared/parse-wire-json.ts';
import type { PrepareRun } from './prepare-run.ts';
import { writeUIMessageSSE } from '../../ui-message-stream/sse/ui-message-sse-stream.ts';
import { uiMessageStreamHeaders } from '../../ui-message-stream/sse/ui-message-sse.ts';
import type { UIMessageVersion } from '../../ui-message-stream/chunk/ui-message-chunk.ts';

export interface ChatHandlerOptions extends ChatEncoderOptions {
  /** What a run is given beside the history: the client's tools, context, state. May throw a `Response` to refuse it. */
  prepare?: PrepareRun<{ request: Request; body: { readonly [key: string]: unknown } }>;
  /**
   * Text of an error for the page, from the error as it is. Default: the text of our own errors, and for all others a
   * sentence with the run id, since the messages of providers may hold keys. Log the error here: nothing else does.
   */
  errorText?: (error: Fault) => string;
  /** After how long a silence a comment is sent, so that proxies keep the connection. Default: 15 seconds. */
  keepAliveMs?: number;
  /**
   * Whether the client may send messages of the role `system`. Default: no, since they would stand beside the instructions,
   * and a client can send what it likes.
   */
  allowSystemMessages?: boolean;
  /** Limits of the request body, its JSON and its messages. */
  limits?: Partial<RequestLimits>;
  generateId?: () => string;
  now?: () => number;
}

/** The chat of a source, where nobody but the chat has the history. Throws why a request cannot be answered. */
export function createSourceChat(
  source: AgentSource,
  options: ChatHandlerOptions,
): (request: Request) => Promise<Response> {
  const { prepare, errorText, keepAliveMs = 15_000, ...rest } = options;
  const { limits, allowSystemMessages = false, ...others } = rest;
  const { generateId: mint = generateId, now = Date.now, ...encoding } = others;
  const { onLoss = () => undefined } = encoding;
  const memory = new ChatMemory();

  return async (request) => {
    const body = await readJsonBody(request, { limits, parse: parseWireJson });
    const asked = readChatRequest(body, { generateId: mint, limits });
    if (!allowSystemMessages) refuseSystemMessages(asked);
    const run = toRunInput(asked, { memory, generateId: mint, now, onLoss });
    const prepared = await prepare?.(run, { request, body: body as { readonly [key: string]: unknown } });
    const { signal } = request;
    const chatOptions = { ...encoding, onLoss, signal, memory, errorText };
    const chunks = runChat<UIMessageVersion>(source, { ...run, ...prepared }, chatOptions);
    return new Response(writeUIMessageSSE(chunks, { keepAliveMs }), {
      headers: { ...uiMessageStreamHeaders, ...toRunHeaders(run) },
    });
  };
}

function refuseSystemMessages({ messages }: ChatRequest): void {
  const index = messages.findIndex(({ role }) => role === 'system');
  if (index === -1) return;
  throw new ChatRequestError(
    `messages[${index}].role is "system", and this route takes no instructions from a client. ` +
      'Give them to the source, or set allowSystemMessages.',
  );
}
