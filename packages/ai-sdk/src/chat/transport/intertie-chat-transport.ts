import { readRunHeaders } from '@intertie/core/http';
import { appendPath } from './append-path.ts';
import { chatCursors, type ChatCursor } from './chat-cursors.ts';
import { asFields } from '../../shared/read-fields.ts';
import { createResumableChunks, type ResumableChunksOptions } from './resumable-chunks.ts';
import { acceptVersion7 } from '../accepted-version.ts';
import type { ReconnectOptions, SendMessagesOptions } from './source-chat-transport.ts';
import type { UIMessageChunkOf, UIMessageVersion } from '../../ui-message-stream/chunk/ui-message-chunk.ts';

/** A value, or a function that returns it before each request. */
export type Resolvable<T> = T | (() => T | Promise<T>);
type HeadersLike = Record<string, string> | Headers;

export interface IntertieChatTransportOptions<Version extends UIMessageVersion = UIMessageVersion> {
  /** Chat route of the agent. Default: `/api/chat`. */
  api?: string;
  headers?: Resolvable<HeadersLike>;
  /** Additional fields of each request body. */
  body?: Resolvable<object>;
  credentials?: Resolvable<RequestCredentials>;
  fetch?: typeof fetch;
  /**
   * Major version of `ai` that reads the chunks. 7 requests chunks that only it reads, such as the removal of a step that is
   * generated again after a crash. Default: 6, whose chunks 7 also reads.
   */
  version?: Version;
  /** Whether stopping the chat also stops the run on the server. Default: true. */
  stopOnAbort?: boolean;
  /** Maximum number of consecutive failed reconnects before the stream errors. Default: 20, which takes about a minute. */
  maxReconnects?: number;
  /** Delay before the nth consecutive attempt, in milliseconds. Default: 0, then 250 ms, doubled up to 4 s. */
  reconnectDelayMs?: (attempt: number) => number;
  /**
   * Whether the chat replaces its message when a resumed stream begins with `start`, as in `DefaultChatTransport`. Set it to
   * false for `useChat({ transport })` of `@ai-sdk/react` 3, which hides this flag from its chat: a message that the server
   * has to send again then fails instead of appearing twice. Default: true.
   */
  resumeStreamIsReplay?: boolean;
}

/**
 * `ChatTransport` to an Intertie server for `useChat` and every other chat of `ai` 6 and 7. Unlike `DefaultChatTransport`, it
 * stops the run with the chat, resumes an interrupted stream after the last chunk without the chat noticing, and fails if a
 * stream ends before its message does.
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
    const pending = this.#track(options, () => true);
    const send = async (): Promise<Response> => {
      const headers = { 'content-type': 'application/json', ...(await this.#headers(options.headers)) };
      return this.#fetch(this.#api, { method: 'POST', headers, body: JSON.stringify(body), signal: pending.signal });
    };
    const message = send();
    pending.message = message;
    const response = await pending.send(() => withAbort(message, abortSignal));
    pending.message = undefined;
    // The start of a continued message is already in the chat. Its answers can be sent again without an effect.
    const isContinued = asFields(messages.at(-1)).role === 'assistant';
    return this.#chunks(response, options, pending, { startOver: isContinued ? send : 'run' });
  };

  /**
   * Resumes the message that is being written. Returns null if there is none. A chat of this page whose stream was interrupted
   * receives the remaining chunks. Any other chat receives the whole message, under its id.
   *
   * The hook of `@ai-sdk/react` 3 hides `resumeStreamIsReplay` from its chat. Such a chat must not start with a message that
   * has a tool call whose input is still streaming, or it appends to that message. Leave the message out of the history, or
   * use `useChat({ chat })`.
   */
  reconnectToStream = async (options: ReconnectOptions): Promise<ReadableStream<UIMessageChunkOf<Version>> | null> => {
    const key = this.#key(options.chatId);
    const cursor = chatCursors.get(key);
    const count = chatCursors.countReconnect(key);
    // A chat that reconnects again aborts its previous request, which must not stop the run.
    const pending = this.#track(options, () => chatCursors.reconnects(key) === count);
    const response = await pending.send(() =>
      this.#resume(options, cursor?.after === undefined ? {} : cursor, pending.signal),
    );
    if (response.status === 204) {
      chatCursors.delete(key);
      pending.release();
      return null;
    }
    return this.#chunks(response, options, pending, { cursor });
  };

  /** Stops the latest run of the thread, or only the given run. Returns whether the server accepted it. */
  async stop({ chatId, run, headers }: { chatId: string; run?: string; headers?: HeadersLike }): Promise<boolean> {
    const url = appendPath(this.#api, `/${encodeChatId(chatId)}/stop`, { run });
    const init = { method: 'POST', headers: await this.#headers(headers), keepalive: true };
    return (await this.#fetch(url, init)).ok;
  }

  #chunks(
    response: Response,
    options: ReconnectOptions,
    pending: PendingRequest,
    { cursor, startOver }: Partial<Pick<ResumableChunksOptions<Version>, 'cursor' | 'startOver'>>,
  ): ReadableStream<UIMessageChunkOf<Version>> {
    const { version, maxReconnects = defaultMaxReconnects, reconnectDelayMs = defaultDelayMs } = this.#options;
    const key = this.#key(options.chatId);
    let isFirst = true;
    pending.run = readRunHeaders(response).runId ?? cursor?.run;
    return createResumableChunks<Version>(response, {
      version: version ?? (6 as Version),
      cursor,
      startOver,
      signal: pending.signal,
      maxReconnects,
      reconnectDelayMs,
      reconnect: (from) => {
        isFirst = false;
        return this.#resume(options, from, pending.signal);
      },
      canRestart: () => isFirst && this.resumeStreamIsReplay,
      onDisconnect: (last) => chatCursors.set(key, last),
      onClose: (reason) => {
        pending.release();
        // A chat that fails on resumed chunks lacks the first ones: it needs the whole message next time.
        if (!(reason instanceof TypeError)) chatCursors.delete(key);
      },
    });
  }

  async #resume(options: ReconnectOptions, cursor: Partial<ChatCursor>, signal: AbortSignal): Promise<Response> {
    const url = appendPath(this.#api, `/${encodeChatId(options.chatId)}/stream`, cursor);
    return this.#fetch(url, { method: 'GET', headers: await this.#headers(options.headers), signal });
  }

  /** Tracks a request: when the chat aborts, the request is aborted and the run is stopped if `isStop`. */
  #track({ chatId, abortSignal, headers }: ReconnectOptions, isStop: () => boolean): PendingRequest {
    const controller = new AbortController();
    const onAbort = (): void => {
      if (pending.message && this.#options.stopOnAbort !== false) {
        this.#stopMessage(pending.message, { chatId, ...(headers && { headers }) }).catch(() => undefined);
        return;
      }
      controller.abort(abortSignal?.reason);
      if (this.#options.stopOnAbort === false) return;
      // Deferred: whether the abort was a stop or a reconnect is only known after this task.
      setTimeout(() => {
        const run = pending.run === undefined ? {} : { run: pending.run };
        if (isStop()) this.stop({ chatId, ...run, ...(headers && { headers }) }).catch(() => undefined);
      }, 0);
    };
    const pending: PendingRequest = {
      run: undefined,
      message: undefined,
      signal: controller.signal,
      release: () => abortSignal?.removeEventListener('abort', onAbort),
      send: async (send) => {
        try {
          const response = await send();
          if (response.ok) return response;
          const text = await response.text();
          throw new Error(text === '' ? `The server responded with status ${response.status}.` : text);
        } catch (error) {
          pending.release();
          throw error;
        }
      },
    };
    if (abortSignal?.aborted) controller.abort(abortSignal.reason);
    else abortSignal?.addEventListener('abort', onAbort, { once: true });
    return pending;
  }

  /** Stops a run whose id is only known from the response to the message. */
  async #stopMessage(message: Promise<Response>, chat: { chatId: string; headers?: HeadersLike }): Promise<void> {
    const response = await message;
    response.body?.cancel().catch(() => undefined);
    if (!response.ok) return;
    const { runId: run } = readRunHeaders(response);
    await this.stop({ ...chat, ...(run !== undefined && { run }) });
  }

  async #fetch(url: string, init: RequestInit): Promise<Response> {
    const credentials = await resolve(this.#options.credentials);
    // Read on each call: other libraries replace the global fetch.
    const send = this.#options.fetch ?? globalThis.fetch;
    return send(url, { ...init, ...(credentials && { credentials }) });
  }

  async #headers(requestHeaders: HeadersLike | undefined): Promise<Record<string, string>> {
    const own = await resolve(this.#options.headers);
    const accept: Record<string, string> = this.#options.version === 7 ? { accept: acceptVersion7 } : {};
    return { ...accept, ...Object.fromEntries(new Headers(own)), ...Object.fromEntries(new Headers(requestHeaders)) };
  }

  #key(chatId: string): string {
    return `${this.#api}\n${chatId}`;
  }
}

interface PendingRequest {
  /** Id of the run, once known. */
  run: string | undefined;
  /** The posted message until its response arrives. An abort must not cancel it, or the run would continue unnoticed. */
  message: Promise<Response> | undefined;
  readonly signal: AbortSignal;
  /** Stops listening for aborts of the chat. */
  release: () => void;
  /** Sends the request. Rejects if the status is not 2xx. */
  send: (send: () => Promise<Response>) => Promise<Response>;
}

/** Rejects when the signal aborts, without cancelling the request. */
async function withAbort(request: Promise<Response>, signal: AbortSignal | undefined): Promise<Response> {
  if (signal === undefined) return request;
  const settled = new AbortController();
  const aborted = new Promise<undefined>((done) => {
    signal.addEventListener('abort', () => done(undefined), { once: true, signal: settled.signal });
  });
  const response = await Promise.race([request, aborted]).finally(() => settled.abort());
  signal.throwIfAborted();
  return response ?? request;
}

async function resolve<T>(value: Resolvable<T> | undefined): Promise<T | undefined> {
  return typeof value === 'function' ? (value as () => T | Promise<T>)() : value;
}

/** `.` and `..` are resolved as path segments even if percent-encoded. */
function encodeChatId(chatId: string): string {
  if (chatId === '.' || chatId === '..')
    throw new TypeError(`"${chatId}" cannot be a chat id: URLs resolve it as a relative path.`);
  return encodeURIComponent(chatId);
}

/** Outlasts the restart of a single server. */
const defaultMaxReconnects = 20;

function defaultDelayMs(attempt: number): number {
  return attempt === 1 ? 0 : Math.min(250 * 2 ** (attempt - 2), 4000);
}
