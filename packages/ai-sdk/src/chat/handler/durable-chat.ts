import { generateId, type DurableAgent, type DurableRun, type Fault, type RunRequest } from '@intertie/core';
import type { AnswerVerdict, Waiting } from '@intertie/core/store';
import { readJsonBody, toRunHeaders, type RequestLimits } from '@intertie/core/http';
import type { BlobUrl } from './blob-urls.ts';
import { readBodyInput } from './read-body-input.ts';
import { ChatRefusedError } from './error-response.ts';
import { ChatRequestError, readChatRequest } from './chat-request.ts';
import type { ChatEncoderOptions } from './run-chat.ts';
import { followContinuation } from './follow-continuation.ts';
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
    const run = await this.#agent.start({ busy, pending, ...this.#getAuthor(request), ...prepared, ...stored.request });
    return this.#follow(run, { baseline: 'restate' });
  }

  /**
   * Streams what a chat has missed: with a valid cursor the frames after it, otherwise the whole message while it is being
   * written and for `replayEndedMs` after. Responds 204 if there is nothing to resume.
   */
  async resume(request: Request): Promise<Response> {
    const { searchParams } = new URL(request.url);
    const run = await this.#findRun(request, searchParams.get('run'));
    if (run === null) return new Response(null, { status: 204 });
    const record = await run.record();
    const cursor = parseRunCursor(searchParams.get('after') ?? '');
    if (cursor && (await this.#isValidCursor(run, cursor))) {
      for (const baseline of ['assume', 'restate'] as const) {
        const [, from = '0'] = /@(\d{1,15})$/.exec(cursor.encoder) ?? [];
        const options = { baseline, from: Number(from) };
        if (getEncoderId({ ...this.#encoderOptions, ...options }) === cursor.encoder) {
          return this.#follow(run, { ...options, after: cursor });
        }
      }
    }
    if (record.state === 'queued' || record.state === 'running') return this.#follow(run, { baseline: 'restate' });
    const { now = Date.now, replayEndedMs = 60_000 } = this.#options;
    const isFresh = record.endedAt !== undefined && now() - record.endedAt.getTime() < replayEndedMs;
    if (!isFresh && !searchParams.has('after')) return new Response(null, { status: 204 });
    const message = await this.#getMessage(run);
    if (message === null) return new Response(null, { status: 204 });
    const frames = encodeMessage(message, { ...this.#encoderOptions, baseline: 'restate' });
    return toStreamResponse(frames, run);
  }

  /** Stops the thread's latest run, or only the run named in the query. */
  async stop(request: Request): Promise<Response> {
    const run = await this.#findRun(request, new URL(request.url).searchParams.get('run'));
    if (run === null) throw new ChatRefusedError(404, 'not-found', 'The thread has no run to stop.');
    return Response.json({ run: run.runId, result: await run.stop() });
  }

  async #answer(stored: StoredRequest & { type: 'answer' }, threadId: string, request: Request): Promise<Response> {
    const { runId, answers, message, seq } = stored;
    if (answers.length === 0) return this.#attach(stored, threadId);
    const tail = await this.#readTail(runId, threadId);
    const { by } = this.#getAuthor(request);
    const { verdicts, open, run } = await this.#agent.answer({ runId, threadId }, answers, by, {
      timeoutMs: continuationWaitMs,
    });
    const isAccepted = verdicts.some(({ result }) => result === 'accepted' || result === 'duplicate');
    if (!isAccepted) throw toAnswerError(verdicts);
    if (run?.runId === runId && this.#agent.source.pauses !== 'live') {
      // The run has not paused yet. The continuation has no id before it starts, so the headers name no run.
      const frames = this.#frames(followContinuation(this.#agent, run), { baseline: 'assume' });
      return toStreamResponse(frames, { messageId: run.messageId });
    }
    if (run) {
      // A live run continues in the same log. The chat already has the events before its pause.
      const from = run.runId === runId ? Math.min(seq ?? tail, tail) : 0;
      const answered = answers.flatMap((answer) => ('questionId' in answer ? [answer.questionId] : []));
      return this.#follow(run, { baseline: 'assume', from }, answered);
    }
    const waitingFor = open.map(({ id, kind }): Waiting =>
      kind === 'client-tool' ? { type: 'tool', toolCallId: id } : { type: 'question', questionId: id },
    );
    // The answers are stored, but the run continues only when all questions are answered.
    const metadata = { messageMetadata: { [metadataKey]: { waitingFor } } };
    const frames = [{ type: 'start', messageId: message.id, ...metadata }, { type: 'finish' }];
    const text = frames.map((frame) => toUIMessageFrame(frame)).join('') + doneFrame;
    return toStreamResponse(text, { runId, messageId: message.id });
  }

  /** Follows the run that writes the message, for a request without new answers. */
  async #attach(stored: StoredRequest & { type: 'answer' }, threadId: string): Promise<Response> {
    const { message, runId, seq = 0 } = stored;
    const run = await this.#findWriter(threadId, message.id);
    const state = (await run?.record())?.state;
    if (run?.messageId === message.id && (state === 'running' || state === 'queued')) {
      const from = run.runId === runId ? Math.min(seq, await this.#readTail(runId, threadId)) : 0;
      return this.#follow(run, { baseline: 'assume', from });
    }
    const why = `Message ${message.id} is not waiting, or the request does not contain its answers.`;
    throw new ChatRefusedError(409, 'nothing-to-continue', `${why} Send a message, or answer its open questions.`);
  }

  /** Finds the run that may be writing a message: the latest run of the thread, or the live run before it. */
  async #findWriter(threadId: string, messageId: string): Promise<DurableRun | null> {
    const latest = await this.#agent.latest({ threadId });
    if (latest === null || latest.messageId === messageId) return latest;
    const { registry, scope } = this.#agent.store;
    const live = await registry.liveRun(scope, { threadId });
    return live && this.#agent.find({ runId: live.runId, threadId });
  }

  async #findRun(request: Request, runId: string | null): Promise<DurableRun | null> {
    const threadId = this.#options.getThreadId?.(request) ?? parseThreadId(request);
    if (threadId === undefined) {
      throw new ChatRequestError('The path contains no thread id. Request …/<thread>/stream or …/<thread>/stop.');
    }
    if (runId === null) return this.#agent.latest({ threadId });
    const run = await this.#agent.find({ runId, threadId });
    if (run === null) throw new ChatRefusedError(404, 'not-found', `Thread ${threadId} has no run ${runId}.`);
    return run;
  }

  async #isValidCursor(run: DurableRun, { position }: RunCursor): Promise<boolean> {
    const { key } = await run.record();
    const page = await this.#agent.store.log.read(key, position, 1);
    return page.valid && !page.dropped && position.seq <= page.tail;
  }

  /** Reads the sequence number of a run's last event. Only needed for sources that wait inside the process. */
  async #readTail(runId: string, threadId: string): Promise<number> {
    if (this.#agent.source.pauses !== 'live') return 0;
    const { registry, log, scope } = this.#agent.store;
    const record = await registry.findRun(scope, { runId, threadId });
    const position = record && (await log.positions([record.key])).get(record.key);
    return position ? position.next - 1 : 0;
  }

  async #follow(
    run: DurableRun,
    range: Pick<RunFrameEncoderOptions, 'baseline' | 'from' | 'after'>,
    answered: readonly string[] = [],
  ): Promise<Response> {
    const isLive = this.#agent.source.pauses === 'live';
    const pause = isLive && { livePause: { tail: await this.#readTail(run.runId, run.threadId), answered } };
    return toStreamResponse(this.#frames(run, { ...range, ...pause }), run);
  }

  #frames(run: DurableRun, range: Pick<RunFrameEncoderOptions, 'baseline' | 'from' | 'after' | 'livePause'>) {
    const { keepAliveMs = 15_000 } = this.#options;
    const getMessage = () => this.#getMessage(run);
    return followFrames(run, { ...this.#encoderOptions, ...range, keepAliveMs, getMessage });
  }

  #getMessage({ threadId, messageId }: DurableRun) {
    return this.#agent.store.getMessage({ threadId, messageId });
  }

  #getAuthor(request: Request): { by?: string } {
    const by = this.#options.by?.(request);
    return by === undefined ? {} : { by };
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

function toAnswerError(verdicts: readonly AnswerVerdict[]): ChatRefusedError {
  const conflict = verdicts.find(({ result }) => result === 'conflict');
  if (conflict?.result === 'conflict') {
    const { id, answeredBy, answeredAt } = conflict;
    const who = answeredBy === undefined ? '' : ` by ${answeredBy}`;
    const when = answeredAt === undefined ? '' : ` at ${answeredAt.toISOString()}`;
    return new ChatRefusedError(409, 'already-answered', `${id} already has a different answer${who}${when}.`);
  }
  const result = verdicts.find((verdict) => verdict.result === 'expired')?.result ?? 'cancelled';
  const ids = verdicts.map(({ id }) => id).join(', ');
  return new ChatRefusedError(409, result, `${ids} can no longer be answered: it was ${result}.`);
}
