import { createParser } from 'eventsource-parser';
import type { JsonObject } from '@intertie/core';
import { asFields, asNonEmptyText, pause, restartPausesMs } from '@intertie/core/internal';
import { terminalEvents } from '../shared/response-event.ts';

/** Access to a server of the Responses API. */
export type ResponsesServer = {
  /** URL of the API, for example `https://api.openai.com/v1`. */
  baseURL: string;
  apiKey?: string | undefined;
  headers?: Record<string, string> | undefined;
  fetch?: typeof globalThis.fetch | undefined;
};

/** Position in the events of a response. */
export type ResponsePosition = { responseId: string; sequence: number };

const maxEventCharacters = 32_000_000;

/**
 * Streams the events of a response: of a new one, or those after a position. After a lost connection or a temporary refusal, the
 * response is requested again with `starting_after`, so that no event is missing or repeated.
 */
export async function* readResponse(
  server: ResponsesServer,
  begin: { body: JsonObject } | { from: ResponsePosition },
  signal: AbortSignal,
): AsyncGenerator<JsonObject> {
  let position = 'from' in begin ? begin.from : undefined;
  let attempts = 0;
  for (;;) {
    try {
      const response = position
        ? await send(server, toEventsPath(position), { signal })
        : await send(server, '/responses', createInit(begin, signal));
      for await (const event of readEvents(response)) {
        attempts = 0;
        const responseId = asNonEmptyText(asFields(event.response).id) ?? position?.responseId;
        const { sequence_number: sequence } = event;
        if (responseId !== undefined) position = { responseId, sequence: Number(sequence ?? position?.sequence ?? 0) };
        yield event;
        const type = asNonEmptyText(event.type) ?? '';
        if (terminalEvents.has(type) || type === 'error') return;
      }
    } catch (error) {
      const mayRetry = position !== undefined && !signal.aborted && !isFinal(error);
      if (!mayRetry || attempts >= restartPausesMs.length) throw error;
    }
    const waitMs = restartPausesMs[attempts];
    if (position === undefined || waitMs === undefined) return;
    attempts += 1;
    await pause(waitMs, signal);
    signal.throwIfAborted();
  }
}

/** Stops a response on the server. */
export async function cancelResponse(server: ResponsesServer, responseId: string): Promise<void> {
  const response = await send(server, `/responses/${encodeURIComponent(responseId)}/cancel`, { method: 'POST' });
  await response.body?.cancel();
}

/** Refusal of the server. Its `code` is that of the API, or `http-<status>`. */
export class ServerError extends Error {
  override readonly name = 'ServerError';
  readonly code: string;
  readonly status: number;

  constructor(status: number, message: string, code: string | undefined) {
    super(message);
    this.status = status;
    this.code = code ?? `http-${status}`;
  }
}

/** A server that is restarted or overloaded refuses requests only for a short time. */
function isFinal(error: unknown): boolean {
  return error instanceof ServerError && error.status < 500 && error.status !== 429;
}

function createInit(begin: object, signal: AbortSignal): RequestInit {
  const body = JSON.stringify('body' in begin ? begin.body : {});
  return { method: 'POST', body, signal, headers: { 'content-type': 'application/json' } };
}

function toEventsPath({ responseId, sequence }: ResponsePosition): string {
  return `/responses/${encodeURIComponent(responseId)}?stream=true&starting_after=${sequence}`;
}

/** Sends a request with the credentials of the server. */
export function requestServer(server: ResponsesServer, path: string, init: RequestInit): Promise<Response> {
  const { baseURL, apiKey, headers, fetch = globalThis.fetch } = server;
  const authorization: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  return fetch(`${baseURL.replace(/\/+$/, '')}${path}`, {
    ...init,
    headers: { accept: 'text/event-stream', ...authorization, ...headers, ...(init.headers as Record<string, string>) },
  });
}

async function send(server: ResponsesServer, path: string, init: RequestInit): Promise<Response> {
  const response = await requestServer(server, path, init);
  if (response.ok) return response;
  const text = await response.text();
  const { message, code } = asFields(asFields(parseJson(text)).error);
  const reason = asNonEmptyText(message) ?? text.slice(0, 500);
  throw new ServerError(response.status, `The server refused the request: ${reason}`, asNonEmptyText(code));
}

async function* readEvents({ body }: Response): AsyncGenerator<JsonObject> {
  if (body === null) return;
  const events: JsonObject[] = [];
  let isTooLong = false;
  const parser = createParser({
    maxBufferSize: maxEventCharacters,
    onError: ({ type }) => void (isTooLong ||= type === 'max-buffer-size-exceeded'),
    onEvent: ({ data }) => {
      const event = parseJson(data);
      // `[DONE]` is not an event.
      if (typeof event === 'object' && event !== null) events.push(event as JsonObject);
    },
  });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      yield* events.splice(0);
      if (isTooLong)
        throw new ServerError(200, `An event is longer than ${maxEventCharacters} characters.`, 'event-size');
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
