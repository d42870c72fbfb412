import {
  compose,
  seal,
  sourceStream,
  type AgentEvent,
  type AgentSource,
  type Codec,
  type OnLoss,
  type RunInput,
  type SourceStreamOptions,
} from '@intertie/core';
import { readRunHeaders } from '@intertie/core/http';
import { isHandOver, retryRequest } from '@intertie/core/internal';
import { appendPath } from '../chat/transport/append-path.ts';
import type { ToolExecutors } from '../full-stream/tool-executors.ts';
import { asFields, asNonEmptyText, defined, isFields } from '../shared/read-fields.ts';
import type { UIMessageChunk, UIMessageVersion } from '../ui-message-stream/chunk/ui-message-chunk.ts';
import { createUIMessageDecoder } from '../ui-message-stream/decode/decode-ui-message-stream.ts';
import { readUIMessageSSE } from '../ui-message-stream/sse/ui-message-sse-stream.ts';
import { listRenamedCalls, toChatRouteMessages } from './chat-route-messages.ts';
import { skipLoggedEvents } from './skip-logged-events.ts';

type OfRun<T> = T | ((run: RunInput) => T | Promise<T>);

export interface UIMessageStreamSourceOptions {
  /** URL of the chat route, for example `https://example.com/api/chat`. */
  api: string;
  /** Headers of every request, or a function of the run that returns them: `run.principal` is its user. */
  headers?: OfRun<Record<string, string>>;
  /** Additional fields of each request body, or a function of the run that returns them. */
  body?: OfRun<object>;
  fetch?: typeof globalThis.fetch;
  /** Name of the source. Default: the host of the URL. */
  name?: string;
  /** Major version of `ai` in the route, for the format of the messages that it receives. Default: 6, which 7 reads too. */
  version?: UIMessageVersion;
  /**
   * Executor of tools whose calls come without a result. Default: the client, if the route finishes with `tool-calls` or without
   * a reason.
   */
  tools?: ToolExecutors;
  /**
   * Whether `GET {api}/{id}/stream` of the route replays a live run, like a route of Intertie or of `resumable-stream`. Then a run is
   * handed over when its process shuts down; otherwise it gets the time to end. Default: false.
   */
  resumable?: boolean;
  /** Maximum time without a chunk, in milliseconds. */
  idleMs?: number;
  /** Called with every chunk of the route before it is decoded. */
  onFrame?: SourceStreamOptions['onFrame'];
  onLoss?: OnLoss;
}

/**
 * Creates a source from a chat route that streams UI messages, such as `streamText(…).toUIMessageStreamResponse()`. It sends
 * requests like `DefaultChatTransport`: the whole history, and for a continuation the message with tool outputs and approval
 * responses. A run of a dead process continues if `GET {api}/{id}/stream` of the route replays it.
 */
export function uiMessageStreamSource(options: UIMessageStreamSourceOptions): AgentSource {
  const { api, name = new URL(api).host, resumable = false, idleMs, onFrame, onLoss = () => undefined } = options;
  const read = (
    open: (leave: AbortSignal) => Promise<ReadableStream<UIMessageChunk>>,
    codec: Codec<unknown, AgentEvent>,
    signal: AbortSignal,
  ): ReadableStream<AgentEvent> => sourceStream(open, codec, { signal, remote: name, ...defined({ idleMs, onFrame }) });
  return {
    name,
    pauses: 'replay',
    run: (run, { signal }) =>
      read(
        (leave) => send(options, run, { leave, signal }),
        compose(createDecoder(run, options), seal(run, onLoss)),
        signal,
      ),
    ...(!resumable && { canResume: () => false }),
    resume(run, from, { signal }) {
      // Without the epoch, the replayed parts get the ids that they have in the log.
      const decoder = compose(createDecoder({ ...run, epoch: 1 }, options), skipLoggedEvents(from.events));
      const codec = compose(decoder, seal(run, onLoss, { log: from.events }));
      return read((leave) => replay(options, run, { leave, signal }), codec, signal);
    },
  };
}

/** Decodes chunks. Calls that the continued message has under other ids than the route are mapped. */
function createDecoder(run: RunInput, { tools, onLoss }: UIMessageStreamSourceOptions): Codec<unknown, AgentEvent> {
  const decoder = createUIMessageDecoder(run, defined({ tools, onLoss }));
  const renamed = new Map(listRenamedCalls(run.message));
  if (renamed.size === 0) return decoder;
  return {
    feed(chunk, emit) {
      const { type, toolCallId } = asFields(chunk);
      const wireId = typeof toolCallId === 'string' ? toolCallId : '';
      // A new call under the same id.
      if (type === 'tool-input-start' || type === 'tool-input-available') renamed.delete(wireId);
      const id = renamed.get(wireId);
      decoder.feed(id === undefined ? chunk : { ...asFields(chunk), toolCallId: id }, emit);
    },
    end: (end, emit) => decoder.end(end, emit),
  };
}

/** `leave` is aborted when the response is no longer read, `signal` when the run is stopped. */
type Signals = { leave: AbortSignal; signal: AbortSignal };

async function send(
  options: UIMessageStreamSourceOptions,
  run: RunInput,
  signals: Signals,
): Promise<ReadableStream<UIMessageChunk>> {
  const { version = 6, onLoss = () => undefined } = options;
  reportUnsupported(run, onLoss);
  const messages = toChatRouteMessages(run, version, onLoss);
  const body = {
    ...(await resolve(options.body, run)),
    ...(isFields(run.forwardedProps) && run.forwardedProps),
    id: run.threadId,
    messages,
    trigger: 'submit-message',
    ...(run.message && { messageId: messages.at(-1)?.id }),
  };
  const init = { method: 'POST', body: JSON.stringify(body), signal: signals.leave };
  const response = await requestRoute(options, run, options.api, init, { 'content-type': 'application/json' });
  if (!response.ok) throw await toResponseError(options, response);
  return readChunks(options, run, response, signals);
}

/** Requests the stream of the run that the route still has. */
async function replay(
  options: UIMessageStreamSourceOptions,
  run: RunInput,
  signals: Signals,
): Promise<ReadableStream<UIMessageChunk>> {
  const url = appendPath(options.api, `/${encodeURIComponent(run.threadId)}/stream`, {});
  const request = (): Promise<Response> => requestRoute(options, run, url, { signal: signals.leave });
  const response = await retryRequest(request, signals.leave).catch((error: unknown) => {
    throw toLostError('The chat route cannot be reached.', error);
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw toLostError(`The chat route has no stream to resume (status ${response.status}).`);
  }
  if (run.message && readRunHeaders(response).runId !== undefined) {
    // An Intertie route replays the whole message, also the part before the answers. It recognizes answers that are sent again, and
    // then sends only what follows them.
    await response.body?.cancel();
    return send(options, run, signals).catch((error: unknown) => {
      throw toLostError('The chat route refused the answers.', error);
    });
  }
  return readChunks(options, run, response, signals);
}

/** Clients see the text of `lost` errors, so it does not contain the URL of the route. */
function toLostError(reason: string, cause?: unknown): Error {
  const message = `The process that executed the run is gone, and the run cannot be continued. ${reason}`;
  const error = new Error(`${message} The output so far is kept. Send the message again.`, { cause });
  return Object.assign(error, { code: 'lost' });
}

async function readChunks(
  { api, headers, fetch }: UIMessageStreamSourceOptions,
  run: RunInput,
  response: Response,
  { leave, signal }: Signals,
): Promise<ReadableStream<UIMessageChunk>> {
  const type = response.headers.get('content-type') ?? 'text/event-stream';
  if (response.body === null || !type.startsWith('text/event-stream')) {
    await response.body?.cancel();
    throw new Error(
      `The chat route ${api} responded with ${type} instead of text/event-stream. ` +
        'Let it return a UI message stream, for example result.toUIMessageStreamResponse().',
    );
  }
  const { runId } = readRunHeaders(response);
  if (runId !== undefined) {
    // An Intertie server continues a run without readers, so a stop needs a request of its own.
    const url = appendPath(api, `/${encodeURIComponent(run.threadId)}/stop`, { run: runId });
    const onLeave = (): void => {
      // The end of a run also leaves the stream.
      if (!signal.aborted || isHandOver(signal)) return;
      requestRoute({ api, ...defined({ headers, fetch }) }, run, url, { method: 'POST' }).catch(() => undefined);
    };
    if (leave.aborted) onLeave();
    else leave.addEventListener('abort', onLeave, { once: true });
  }
  return readUIMessageSSE<7>(response.body, { version: 7 });
}

/** Requests a chat route or a path below it, with the headers of the options. */
export async function requestRoute(
  { api, headers, fetch = globalThis.fetch }: UIMessageStreamSourceOptions,
  run: RunInput,
  url: string,
  init: RequestInit,
  own: Record<string, string> = {},
): Promise<Response> {
  const allHeaders = { accept: 'text/event-stream', ...own, ...(await resolve(headers, run)) };
  try {
    return await fetch(url, { ...init, headers: allHeaders });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // The error of `fetch` is only "fetch failed", with the reason in its cause.
    const { code, message = error.message } = asFields(error.cause);
    const reason = code === 'ECONNREFUSED' ? 'the connection was refused' : String(message);
    const text = `Cannot reach the chat route ${api}: ${reason}. Start the server, or correct the URL.`;
    throw new Error(text, { cause: error });
  }
}

/** Creates an error with the text of the response: that of an Intertie error, or the body. */
async function toResponseError({ api }: UIMessageStreamSourceOptions, response: Response): Promise<Error> {
  const text = await response.text().catch(() => '');
  const shown = (readErrorText(text) ?? text).slice(0, 500);
  const message = `The chat route ${api} responded with status ${response.status}${shown === '' ? '.' : `: ${shown}`}`;
  return Object.assign(new Error(message), { code: `http-${response.status}` });
}

/** Reads the message of a JSON error: `{ error: { message, fix? } }`, `{ error }` or `{ message }`. */
function readErrorText(text: string): string | undefined {
  try {
    const body = asFields(JSON.parse(text));
    const { message, fix } = asFields(body.error);
    const texts = [asNonEmptyText(message), asNonEmptyText(fix)].filter((part) => part !== undefined);
    return texts.length > 0 ? texts.join(' ') : (asNonEmptyText(body.error) ?? asNonEmptyText(body.message));
  } catch {
    return undefined;
  }
}

/** Reports input that a chat request has no field for. */
function reportUnsupported({ tools, context, state }: RunInput, onLoss: OnLoss): void {
  const lost = { tools: tools.length > 0, context: context.length > 0, state: state !== undefined };
  for (const [what, isLost] of Object.entries(lost)) {
    const why = 'A chat route has no field for it. Send it in `body`, if the route reads it.';
    if (isLost) onLoss({ kind: 'unsupported', what, why });
  }
}

async function resolve<T>(value: OfRun<T> | undefined, run: RunInput): Promise<T | undefined> {
  return typeof value === 'function' ? (value as (run: RunInput) => T | Promise<T>)(run) : value;
}
