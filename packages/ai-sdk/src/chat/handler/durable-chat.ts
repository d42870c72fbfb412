import {
  generateId,
  serveDurableRun,
  type DurableAgent,
  type DurableRun,
  type Fault,
  type OpenRun,
  type RunRequest,
  type ServedRun,
} from '@intertie/core';
import type { Waiting } from '@intertie/core/store';
import { readJsonBody, toRunHeaders, type RequestLimits } from '@intertie/core/http';
import type { BlobUrl } from './blob-urls.ts';
import { readBodyInput } from './read-body-input.ts';
import { ChatRequestError, readChatRequest } from './chat-request.ts';
import type { ChatEncoderOptions } from './run-chat.ts';
import { followFrames, encodeMessage } from './follow-frames.ts';
import { metadataKey } from '../../shared/intertie-metadata.ts';
import { parseWireJson } from '../../shared/parse-wire-json.ts';
import { defined, isFields, type Fields } from '../../shared/read-fields.ts';
import { parseRunCursor, type RunCursor } from '../run-cursor.ts';
import { getEncoderId, type RunFrameEncoderOptions } from './run-frame-encoder.ts';
import { readStoredRequest, type StoredRequest } from './read-stored-request.ts';
import { doneFrame, toUIMessageFrame, uiMessageStreamHeaders } from '../../ui-message-stream/sse/ui-message-sse.ts';

export interface DurableChatHandlerOptions extends ChatEncoderOptions {
  /**
   * Adds client tools, context, state or a policy for other runs of the thread. Default: `tools`, `context` and `state` of
   * the body. May throw a `Response` to reject the request.
   */
  prepare?: (
    request: RunRequest,
    context: { request: Request; body: Fields },
  ) => PreparedRequest | undefined | Promise<PreparedRequest | undefined>;
  /** User to record as the author of requests and answers. */
  by?: (request: Request) => string | undefined;
  /** Thread id of a request to resume or stop. Default: the path segment before `/stream` or `/stop`. */
  getThreadId?: (request: Request) => string | undefined;
  /** Policy while the thread has a live run. Default: `replace`, since `useChat.stop()` only closes the connection. */
  busy?: NonNullable<RunRequest['busy']>;
  /** Policy while the previous answer waits for a decision. Default: `supersede`. */
  pending?: NonNullable<RunRequest['pending']>;
  /**
   * Browser URL of a stored blob. Must be the same for the same blob, since a resumed stream must repeat earlier frames
   * exactly. Default: the store's own URL, which no browser can read.
   */
  blobUrl?: BlobUrl;
  /**
   * Text of a stored error for the client. Default: the message of Intertie's own errors, and for others a generic sentence
   * with the run id, since messages of providers may contain keys.
   */
  errorText?: (error: Fault) => string;
  /** Idle time in milliseconds before a comment is sent, so that proxies keep the connection. Default: 15 seconds. */
  keepAliveMs?: number;
  /** Time in milliseconds after its end during which a message can be replayed without a cursor. Default: 60 seconds. */
  replayEndedMs?: number;
  /** Limits of the request body, its JSON and its messages. */
  limits?: Partial<RequestLimits>;
  now?: () => number;
}

/** Time in milliseconds to wait for the run that continues an answered one, so that response headers can name it. */
const continuationWaitMs = 200;

/** Input and policies that an application adds to a durable run. */
export type PreparedRequest = Partial<
  Pick<RunRequest, 'tools' | 'context' | 'state' | 'forwardedProps' | 'resourceId' | 'busy' | 'pending'>
>;

type EncodedRange = Pick<RunFrameEncoderOptions, 'baseline' | 'from' | 'after'>;

/** Serves a chat of an agent with durable runs. Each method handles one kind of request and throws if it cannot be served. */
export class DurableChat {
  readonly #agent: DurableAgent;
  readonly #options: DurableChatHandlerOptions;

  constructor(agent: DurableAgent, options: DurableChatHandlerOptions) {
    this.#agent = agent;
    this.#options = options;
  }

  /** Starts a run for a new message, an edit or a regeneration, or continues one with answers. */
  async send(request: Request): Promise<Response> {
    const { limits, onLoss = () => undefined, getThreadId, blobUrl } = this.#options;
    const body = await readJsonBody(request, { limits, parse: parseWireJson });
    if (isFields(body) && body.messages === undefined && body.message === undefined) {
      throw new ChatRequestError(
        'The body has neither "messages" nor "message". Send the UI messages of the chat, or its last one as "message".',
      );
    }
    // Clients of stored chats often send only their last message, as `message`.
    const isSingleMessage = isFields(body) && body.messages === undefined && body.message !== undefined;
    const fullBody = isSingleMessage ? { ...body, messages: [body.message] } : body;
    const chatRequest = readChatRequest(fullBody, { generateId: () => getThreadId?.(request) ?? generateId(), limits });
    const idempotencyKey = request.headers.get('idempotency-key') || undefined;
    const { store } = this.#agent;
    const readOptions = { store, onLoss, isSingleMessage, ...defined({ blobUrl, idempotencyKey }) };
    const stored = await readStoredRequest(chatRequest, readOptions);
    if (stored.type === 'answer') return this.#answer(stored, chatRequest.chatId, request);
    const { busy = 'replace', pending = 'supersede', prepare } = this.#options;
    const fields = isFields(body) ? body : {};
    const prepared = prepare ? await prepare(stored.request, { request, body: fields }) : readBodyInput(fields);
    const command = { type: 'start' as const, request: { ...prepared, ...stored.request } };
    const by = this.#options.by?.(request);
    return this.#follow(await serveDurableRun(this.#agent, command, { busy, pending, by }), { baseline: 'restate' });
  }

  /**
   * Streams what a chat has missed: with a valid cursor the frames after it, otherwise the whole message while it is being
   * written and for `replayEndedMs` after. Responds 204 if there is nothing to resume.
   */
  async resume(request: Request): Promise<Response> {
    const { searchParams } = new URL(request.url);
    const { now, replayEndedMs = 60_000 } = this.#options;
    const cursor = this.#readCursor(searchParams.get('after') ?? '');
    const served = await serveDurableRun(this.#agent, this.#readCommand('join', request), {
      after: cursor?.after.position,
      replayEndedMs: searchParams.has('after') ? Infinity : replayEndedMs,
      now,
    });
    if (served === null) return new Response(null, { status: 204 });
    if (!served.isEnded) return this.#follow(served, cursor && served.after > 0 ? cursor : { baseline: 'restate' });
    const message = await this.#getMessage(served.run);
    if (message === null) return new Response(null, { status: 204 });
    const frames = encodeMessage(message, { ...this.#encoderOptions, baseline: 'restate' });
    return toStreamResponse(frames, served.ids);
  }

  /** Stops the thread's latest run, or only the run named in the query. */
  async stop(request: Request): Promise<Response> {
    const { runId, result } = await serveDurableRun(this.#agent, this.#readCommand('stop', request));
    return Response.json({ run: runId, result });
  }

  /** Continues a run with answers. A request without new answers joins the run that writes the message. */
  async #answer(stored: StoredRequest & { type: 'answer' }, threadId: string, request: Request): Promise<Response> {
    const { runId, answers, message, seq } = stored;
    const after = seq === undefined ? undefined : { seq };
    const served: ServedRun | OpenRun | null =
      answers.length === 0
        ? await serveDurableRun(this.#agent, { type: 'join', threadId, runId, messageId: message.id }, { after })
        : await serveDurableRun(
            this.#agent,
            { type: 'answer', threadId, answers: new Map([[runId, answers]]) },
            { after, by: this.#options.by?.(request), continuationWaitMs },
          );
    if (served?.type === 'run') return this.#follow(served, { baseline: 'assume', from: served.after });
    const waitingFor = served?.open.map(({ id, kind }): Waiting =>
      kind === 'client-tool' ? { type: 'tool', toolCallId: id } : { type: 'question', questionId: id },
    );
    // The answers are stored, but the run continues only when all questions are answered.
    const metadata = { messageMetadata: { [metadataKey]: { waitingFor } } };
    const frames = [{ type: 'start', messageId: message.id, ...metadata }, { type: 'finish' }];
    const text = frames.map((frame) => toUIMessageFrame(frame)).join('') + doneFrame;
    return toStreamResponse(text, { runId, messageId: message.id });
  }

  /** Reads the thread from the path, and the run from the query. */
  #readCommand<Type extends 'join' | 'stop'>(type: Type, request: Request) {
    const threadId = this.#options.getThreadId?.(request) ?? parseThreadId(request);
    if (threadId === undefined) {
      throw new ChatRequestError('The path contains no thread id. Request …/<thread>/stream or …/<thread>/stop.');
    }
    return { type, threadId, runId: new URL(request.url).searchParams.get('run') ?? undefined };
  }

  /** Reads a cursor and the starting point of its stream. Undefined: it is invalid, or other options have created it. */
  #readCursor(text: string): (EncodedRange & { after: RunCursor }) | undefined {
    const after = parseRunCursor(text);
    if (after === undefined) return undefined;
    const from = Number(/@(\d{1,15})$/.exec(after.encoder)?.[1] ?? 0);
    const ranges = (['assume', 'restate'] as const).map((baseline) => ({ baseline, from, after }));
    return ranges.find((range) => getEncoderId({ ...this.#encoderOptions, ...range }) === after.encoder);
  }

  #follow(served: ServedRun, range: EncodedRange): Response {
    const { keepAliveMs = 15_000 } = this.#options;
    const getMessage = () => this.#getMessage(served.run);
    const frames = followFrames(served, { ...this.#encoderOptions, ...range, keepAliveMs, getMessage });
    return toStreamResponse(frames, served.ids);
  }

  #getMessage({ threadId, messageId }: DurableRun) {
    return this.#agent.store.getMessage({ threadId, messageId });
  }

  get #encoderOptions(): ChatEncoderOptions & Pick<RunFrameEncoderOptions, 'errorText' | 'blobUrl'> {
    const { version, sendReasoning, sendSources, includeInternal, staticTools, onLoss, blobUrl } = this.#options;
    const { errorText } = this.#options;
    return defined({ version, sendReasoning, sendSources, includeInternal, staticTools, onLoss, blobUrl, errorText });
  }
}

function toStreamResponse(
  body: string | ReadableStream<Uint8Array>,
  run: { runId?: string; messageId: string },
): Response {
  return new Response(body, { headers: { ...uiMessageStreamHeaders, ...toRunHeaders(run) } });
}

function parseThreadId(request: Request): string | undefined {
  const [, thread] = /\/([^/]+)\/(?:stream|stop)\/?$/.exec(new URL(request.url).pathname) ?? [];
  if (thread === undefined) return undefined;
  try {
    return decodeURIComponent(thread);
  } catch {
    throw new ChatRequestError('The thread id in the path is malformed. Encode it with encodeURIComponent.');
  }
}
