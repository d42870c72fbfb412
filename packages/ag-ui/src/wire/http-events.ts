import { createParser } from 'eventsource-parser';
import { isFields } from '../shared/read-fields.ts';

export type HeadersOption = Record<string, string> | (() => Record<string, string> | Promise<Record<string, string>>);

/** Address of an agent, and how to request it. */
export interface AGUIEndpoint {
  /** URL of the agent: `https:` for server-sent events, `wss:` for a WebSocket. */
  url: string;
  headers?: HeadersOption;
  fetch?: typeof globalThis.fetch;
}

/** Sends a request for events to an agent. */
export async function fetchAgent(
  { url, headers: option, fetch = globalThis.fetch }: AGUIEndpoint,
  init: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> },
): Promise<Response> {
  const headers = typeof option === 'function' ? await option() : option;
  return fetch(url, { ...init, headers: { accept: 'text/event-stream', ...init.headers, ...headers } });
}

/** Creates an error with the text of a response that is not an event stream. */
export async function toResponseError({ url }: AGUIEndpoint, response: Response): Promise<Error> {
  const text = await response.text().catch(() => '');
  const message = `The agent at ${url} answered ${response.status}${text === '' ? '' : `: ${text.slice(0, 500)}`}`;
  return Object.assign(new Error(message), { code: `http-${response.status}` });
}

/** Maximum size of one event in characters. Large, because events may contain files. */
const maxEventSize = 32_000_000;

/** Yields the events of a response body. Leaving the generator cancels the body. */
export async function* sseEvents(
  body: ReadableStream<Uint8Array>,
  maxBufferSize: number = maxEventSize,
): AsyncGenerator<unknown, void, undefined> {
  const events: unknown[] = [];
  let isTooLong = false;
  const parser = createParser({
    maxBufferSize,
    // Other errors are unknown fields, which the event stream specification says to ignore.
    onError: ({ type }) => void (isTooLong ||= type === 'max-buffer-size-exceeded'),
    onEvent: ({ data }) => {
      const event = parseJson(data);
      // Frames without a JSON object are not events.
      if (isFields(event)) events.push(event);
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
      if (isTooLong) throw tooLong(maxBufferSize);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function tooLong(limit: number): Error {
  const message = `An event of the agent is longer than ${limit} characters. Check that the URL belongs to an AG-UI agent.`;
  return Object.assign(new Error(message), { code: 'event-size' });
}

/** Parses JSON. Returns undefined for invalid input. */
export function parseJson(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}
