import { readRunHeaders } from '@intertie/core/http';
import { appendPath } from './append-path.ts';
import { chatCursors, type ChatCursor } from '../handler/chat-cursors.ts';
import { asFields } from '../../shared/read-fields.ts';
import { resumableChunks } from './resumable-chunks.ts';
import type { ReconnectOptions, SendMessagesOptions } from './source-chat-transport.ts';
import type { UIMessageChunkOf, UIMessageVersion } from '../../ui-message-stream/chunk/ui-message-chunk.ts';

/** A value, or a function that is asked for it before each request. */
export type Resolvable<T> = T | (() => T | Promise<T>);
type HeadersLike = Record<string, string> | Headers;

export interface IntertieChatTransportOptions<Version extends UIMessageVersion = UIMessageVersion> {
  /** The agent's chat route. Default: `/api/chat`, the default agent's. */
  api?: string;
  headers?: Resolvable<HeadersLike>;
  /** What else each request's body holds. */
  body?: Resolvable<object>;
  credentials?: Resolvable<RequestCredentials>;
  fetch?: typeof fetch;
  /** The major of `ai` that reads the chunks. Default: 6, whose chunks 7 reads too. */
  version?: Version;
  /** Whether stopping the chat stops the run on the server too. Default: yes. If not, the run goes on without a reader. */
  stopOnAbort?: boolean;
  /** How often in a row a broken stream is asked for again before the chat is told. Default: 5. */
  maxReconnects?: number;
  /** How long to wait before the nth attempt in a row. Default: 0, then 250 ms, doubled up to 4 s. */
  reconnectDelayMs?: (attempt: number) => number;
  /**
   * Whether the chat replaces its message when a resumed stream begins with `start`, as in `DefaultChatTransport`. Set it to
   * false for `useChat({ transport })` of `@ai-sdk/react` 3, which hides the flag from its chat: a message that the server has
   * to send again is then an error instead of a message with everything twice. Default: true.
   */
  resumeStreamIsReplay?: boolean;
}

/**
 * A `ChatTransport` to an Intertie server, for every chat of `ai` 6 and 7. Beyond what `DefaultChatTransport` does: stopping
 * the chat stops the run, a broken stream goes on behind the last chunk that was read, without the chat's noticing, and a
 * stream that ends before its message does is an error.
 */
export class IntertieChatTransport<Version extends UIMessageVersion = 6> {
  /** Read by the chat: a resumed stream that begins with `start` contains the whole message. */
  readonly resumeStreamIsReplay: boolean;
  #options: IntertieChatTransportOptions<Version>;
  #api: string;

  constructor(options: IntertieChatTransportOptions<Version> = {}) {
    this.#options = options;
    this.#api = options.api ?? '/api/chat';
    this.resumeStreamIsReplay = options.resumeStreamIsReplay ?? true;
  }

  sendMessages = async (options: SendMessagesOptions): Promise<ReadableStream<UIMessageChunkOf<Version>>> => {
    const { chatId, messages, trigger, messageId, abortSignal } = options;
    abortSignal?.throwIfAborted();
    chatCursors.delete(this.#key(chatId));
    const body = { ...(await resolve(this.#options.body)), ...options.body, id: chatId, messages, trigger, messageId };
    const watch = this.#watch(options, () => true);
    const send = async (): Promise<Response> => {
      const headers = { 'content-type': 'application/json', ...(await this.#headers(options.headers)) };
      return this.#fetch(this.#api, { method: 'POST', headers, body: JSON.stringify(body), signal: watch.signal });
    };
    const sent = send();
    watch.sent = sent;
    const response = await watch.guard(() => unlessAborted(sent, abortSignal));
    watch.sent = undefined;
    // A message that goes on is in the chat already, and cannot be told from its beginning.
    const mayBegin = asFields(messages.at(-1)).role !== 'assistant';
    return this.#chunks(response, options, watch, undefined, mayBegin);
  };

  /**
   * Returns the rest of a message that is being written, or null if there is none. A chat of this page whose stream broke
   * off receives the rest. Any other chat receives the whole message, under its id.
   *
   * The hook of `@ai-sdk/react` 3 hides `resumeStreamIsReplay` from its chat. Such a chat must not start with a message that
   * has a tool call whose input is still streaming, or it appends to that message. Leave the message out of the history, or
   * use `useChat({ chat })`.
   */
  reconnectToStream = async (options: ReconnectOptions): Promise<ReadableStream<UIMessageChunkOf<Version>> | null> => {
    const key = this.#key(options.chatId);
    const cursor = chatCursors.get(key);
    const count = chatCursors.countReconnect(key);
    // A chat that asks again aborts what it asked for before: that is no stop.
    const watch = this.#watch(options, () => chatCursors.reconnects(key) === count);
    const response = await watch.guard(() =>
      this.#resume(options, cursor?.after === undefined ? {} : cursor, watch.signal),
    );
    if (response.status === 204) {
      chatCursors.delete(key);
      watch.release();
      return null;
    }
    return this.#chunks(response, options, watch, cursor);
  };

  /** Stops the thread's run on the server; with `run`, only that one. Whether the server took it. */
  async stop({ chatId, run, headers }: { chatId: string; run?: string; headers?: HeadersLike }): Promise<boolean> {
    const url = appendPath(this.#api, `/${segment(chatId)}/stop`, { run });
    const init = { method: 'POST', headers: await this.#headers(headers), keepalive: true };
    return (await this.#fetch(url, init)).ok;
  }

  #chunks(
    response: Response,
    options: ReconnectOptions,
    watch: Watch,
    cursor: ChatCursor | undefined,
    mayBegin = false,
  ): ReadableStream<UIMessageChunkOf<Version>> {
    const { version, maxReconnects = 5, reconnectDelayMs = defaultDelayMs } = this.#options;
    const key = this.#key(options.chatId);
    let isFirst = true;
    watch.run = readRunHeaders(response).runId ?? cursor?.run;
    return resumableChunks<Version>(response, {
      version: version ?? (6 as Version),
      cursor,
      mayBegin,
      signal: watch.signal,
      maxReconnects,
      reconnectDelayMs,
      reconnect: (place) => {
        isFirst = false;
        return this.#resume(options, place, watch.signal);
      },
      mayRestart: () => isFirst && this.resumeStreamIsReplay,
      onCut: (place) => chatCursors.set(key, place),
      onOver: (reason) => {
        watch.release();
        // A chat that cannot read the rest has never read the beginning: it is another one, and is told all of it next time.
        if (!(reason instanceof TypeError)) chatCursors.delete(key);
      },
    });
  }

  async #resume(options: ReconnectOptions, place: Partial<ChatCursor>, signal: AbortSignal): Promise<Response> {
    const url = appendPath(this.#api, `/${segment(options.chatId)}/stream`, place);
    return this.#fetch(url, { method: 'GET', headers: await this.#headers(options.headers), signal });
  }

  /** Looks after a request: an abort of the chat ends it, and is a stop. */
  #watch({ chatId, abortSignal, headers }: ReconnectOptions, isStop: () => boolean): Watch {
    const request = new AbortController();
    const onAbort = (): void => {
      if (watch.sent && this.#options.stopOnAbort !== false) {
        this.#stopSent(watch.sent, { chatId, ...(headers && { headers }) }).catch(() => undefined);
        return;
      }
      request.abort(abortSignal?.reason);
      if (this.#options.stopOnAbort === false) return;
      // Only when all that happens in this turn has happened is it known what the abort was for.
      setTimeout(() => {
        const run = watch.run === undefined ? {} : { run: watch.run };
        if (isStop()) this.stop({ chatId, ...run, ...(headers && { headers }) }).catch(() => undefined);
      }, 0);
    };
    const watch: Watch = {
      run: undefined,
      sent: undefined,
      signal: request.signal,
      release: () => abortSignal?.removeEventListener('abort', onAbort),
      guard: async (send) => {
        try {
          const response = await send();
          if (response.ok) return response;
          const said = await response.text();
          throw new Error(said === '' ? `The server answered with status ${response.status}.` : said);
        } catch (error) {
          watch.release();
          throw error;
        }
      },
    };
    if (abortSignal?.aborted) request.abort(abortSignal.reason);
    else abortSignal?.addEventListener('abort', onAbort, { once: true });
    return watch;
  }

  /** A run that nobody can name yet: only the answer to the request says which one it is. */
  async #stopSent(sent: Promise<Response>, chat: { chatId: string; headers?: HeadersLike }): Promise<void> {
    const response = await sent;
    response.body?.cancel().catch(() => undefined);
    if (!response.ok) return;
    const { runId: run } = readRunHeaders(response);
    await this.stop({ ...chat, ...(run !== undefined && { run }) });
  }

  async #fetch(url: string, init: RequestInit): Promise<Response> {
    const credentials = await resolve(this.#options.credentials);
    // Not kept: other libraries replace the global one.
    const send = this.#options.fetch ?? globalThis.fetch;
    return send(url, { ...init, ...(credentials && { credentials }) });
  }

  async #headers(more: HeadersLike | undefined): Promise<Record<string, string>> {
    const own = await resolve(this.#options.headers);
    return { ...Object.fromEntries(new Headers(own)), ...Object.fromEntries(new Headers(more)) };
  }

  #key(chatId: string): string {
    return `${this.#api}\n${chatId}`;
  }
}

interface Watch {
  /** The run, as soon as it is known. */
  run: string | undefined;
  /** A message on its way, until it is answered: an abort must not end the request, or the run goes on unread. */
  sent: Promise<Response> | undefined;
  readonly signal: AbortSignal;
  /** The request is over: an abort means nothing any more. */
  release: () => void;
  /** Sends the request; what is no answer is an error. */
  guard: (send: () => Promise<Response>) => Promise<Response>;
}

/** What was sent, for a caller that does not wait any longer than it wants to. */
async function unlessAborted(sent: Promise<Response>, signal: AbortSignal | undefined): Promise<Response> {
  if (signal === undefined) return sent;
  const over = new AbortController();
  const aborted = new Promise<undefined>((done) => {
    signal.addEventListener('abort', () => done(undefined), { once: true, signal: over.signal });
  });
  const response = await Promise.race([sent, aborted]).finally(() => over.abort());
  signal.throwIfAborted();
  return response ?? sent;
}

async function resolve<T>(value: Resolvable<T> | undefined): Promise<T | undefined> {
  return typeof value === 'function' ? (value as () => T | Promise<T>)() : value;
}

/** `.` and `..` would be taken for folders, however they are written. */
function segment(chatId: string): string {
  if (chatId === '.' || chatId === '..')
    throw new TypeError(`"${chatId}" cannot be the id of a chat: a URL has no place for it.`);
  return encodeURIComponent(chatId);
}

function defaultDelayMs(attempt: number): number {
  return attempt === 1 ? 0 : Math.min(250 * 2 ** (attempt - 2), 4000);
}
