import { createParser } from 'eventsource-parser';
import { isFields } from '../shared/read-fields.ts';

export type HeadersOption = Record<string, string> | (() => Record<string, string> | Promise<Record<string, string>>);

/** Where an agent is, and how it is asked. */
export interface AGUIEndpoint {
  /** Where the agent is: `https:` for server-sent events, `wss:` for a socket. */
  url: string;
  headers?: HeadersOption;
  fetch?: typeof globalThis.fetch;
}

/** A request to an agent for events. */
export async function askAgent(
  { url, headers: own, fetch = globalThis.fetch }: AGUIEndpoint,
  init: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> },
): Promise<Response> {
  const headers = typeof own === 'function' ? await own() : own;
  return fetch(url, { ...init, headers: { accept: 'text/event-stream', ...init.headers, ...headers } });
}

/** An answer that is no stream is an error with what the agent says of it. */
export async function refusal({ url }: AGUIEndpoint, response: Response): Promise<Error> {
  const said = await response.text().catch(() => '');
  const message = `The agent at ${url} answered ${response.status}${said === '' ? '' : `: ${said.slice(0, 500)}`}`;
  return Object.assign(new Error(message), { code: `http-${response.status}` });
}

/** How much of one event is held, in characters: files travel inside. A server that sends more sends no events. */
const maxEventSize = 32_000_000;

/** The events of a response's body. Who leaves cancels it. */
export async function* sseEvents(
  body: ReadableStream<Uint8Array>,
  maxBufferSize: number = maxEventSize,
): AsyncGenerator<unknown, void, undefined> {
  const events: unknown[] = [];
  let isTooLong = false;
  const parser = createParser({
    maxBufferSize,
    // Unknown fields are passed over, as the specification of event streams says.
    onError: ({ type }) => void (isTooLong ||= type === 'max-buffer-size-exceeded'),
    onEvent: ({ data }) => {
      const event = parse(data);
      // Frames that are no events are the server's own business.
      if (isFields(event)) events.push(event);
    },
  });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- one piece after the other
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
  const message = `An event of the agent is longer than ${limit} characters. Does the URL name an AG-UI agent?`;
  return Object.assign(new Error(message), { code: 'event-size' });
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}
