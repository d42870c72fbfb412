import { generateId, type AgentSource, type Fault } from '@intertie/core';
import { ChatMemory } from './chat-memory.ts';
import { ChatRequestError, readChatRequest, type ChatRequest } from './chat-request.ts';
import { runChat, type ChatEncoderOptions } from './chat-run.ts';
import { toRunInput } from './chat-turn.ts';
import { parseWireJson } from './parse-wire-json.ts';
import type { PrepareRun } from './prepare-run.ts';
import { writeUIMessageSSE } from './ui-message-sse-stream.ts';
import { uiMessageStreamHeaders } from './ui-message-sse.ts';
import type { UIMessageVersion } from './ui-message-chunk.ts';

export interface ChatHandlerOptions extends ChatEncoderOptions {
  /** What a run is given beside the history: the client's tools, context, state. May throw a `Response` to refuse it. */
  prepare?: PrepareRun<{ request: Request; body: { readonly [key: string]: unknown } }>;
  /** What the page is told of an error that ended the run. Default: the error's message. */
  errorText?: (error: Fault) => string;
  /** After how long a silence a comment is sent, so that proxies keep the connection. Default: 15 seconds. */
  keepAliveMs?: number;
  /**
   * Whether the client may send messages of the role `system`. Default: no, since they would stand beside the instructions,
   * and a client can send what it likes.
   */
  allowSystemMessages?: boolean;
  /** How long a request may be, in bytes. Default: 32 MB, since files travel inside. */
  maxBodySize?: number;
  generateId?: () => string;
  now?: () => number;
}

const defaultKeepAliveMs = 15_000;
const defaultMaxBodySize = 32_000_000;

/**
 * A route for an unmodified `useChat()`: `export const POST = createChatHandler(source)`. Nothing is stored. The history is
 * what the client sends, an answered message goes on from there, and a run ends when its client leaves.
 *
 * `GET` answers 204: a client that asks for a stream to resume is told that there is none.
 */
export function createChatHandler(
  source: AgentSource,
  options: ChatHandlerOptions = {},
): (request: Request) => Promise<Response> {
  const { prepare, errorText = messageOf, keepAliveMs = defaultKeepAliveMs, ...rest } = options;
  const { maxBodySize = defaultMaxBodySize, allowSystemMessages = false, ...others } = rest;
  const { generateId: mint = generateId, now = Date.now, ...encoding } = others;
  const { onLoss = () => undefined } = encoding;
  const memory = new ChatMemory();

  const answer = async (request: Request): Promise<Response> => {
    const body = await readBody(request, maxBodySize);
    const asked = readChatRequest(body, mint);
    if (!allowSystemMessages) refuseSystemMessages(asked);
    const run = toRunInput(asked, { memory, generateId: mint, now, onLoss });
    const prepared = await prepare?.(run, { request, body: body as { readonly [key: string]: unknown } });
    const { signal } = request;
    const chatOptions = { ...encoding, onLoss, signal, memory, errorText };
    const chunks = runChat<UIMessageVersion>(source, { ...run, ...prepared }, chatOptions);
    return new Response(writeUIMessageSSE(chunks, { keepAliveMs }), {
      headers: { ...uiMessageStreamHeaders, 'x-intertie-run': run.runId, 'x-intertie-message': run.messageId },
    });
  };

  return async (request) => {
    if (request.method === 'GET') return new Response(null, { status: 204 });
    if (request.method !== 'POST') {
      const message = `This route takes POST (a chat's messages) and GET (nothing to resume), not ${request.method}.`;
      return refusal(405, message, { allow: 'GET, POST' });
    }
    try {
      return await answer(request);
    } catch (error) {
      if (error instanceof Response) return error;
      if (error instanceof ChatRequestError) return refusal(error.status, error.message);
      throw error;
    }
  };
}

function refusal(status: number, message: string, headers?: Record<string, string>): Response {
  return Response.json({ error: { message } }, { status, ...(headers && { headers }) });
}

function refuseSystemMessages({ messages }: ChatRequest): void {
  const index = messages.findIndex(({ role }) => role === 'system');
  if (index === -1) return;
  throw new ChatRequestError(
    `messages[${index}].role is "system", and this route takes no instructions from a client. ` +
      'Give them to the source, or set allowSystemMessages.',
  );
}

/** Read piece by piece: what is too long is not held. */
async function readBody(request: Request, maxSize: number): Promise<unknown> {
  const decoder = new TextDecoder();
  let size = 0;
  let text = '';
  const reader = request.body?.getReader();
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one piece after the other
    const result = await reader?.read();
    if (result === undefined || result.done) break;
    size += result.value.byteLength;
    if (size > maxSize) {
      reader?.cancel().catch(() => undefined);
      throw new ChatRequestError(`The body is longer than ${maxSize} bytes.`, 413);
    }
    text += decoder.decode(result.value, { stream: true });
  }
  try {
    return parseWireJson(text + decoder.decode());
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ChatRequestError(`The body is no JSON: ${why}`);
  }
}

function messageOf({ message }: Fault): string {
  return message;
}
