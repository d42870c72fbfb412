import { generateId, type DurableAgent, type DurableRun, type Fault, type RunRequest } from '@intertie/core';
import type { AnswerVerdict, Waiting } from '@intertie/core/store';
import { readJsonBody, toRunHeaders, type RequestLimits } from '@intertie/core/http';
import type { BlobUrl } from './blob-files.ts';
import { bodyRunInput } from './body-run-input.ts';
import { ChatRefusedError } from './chat-refusal.ts';
import { ChatRequestError, readChatRequest } from './chat-request.ts';
import type { ChatEncoderOptions } from './chat-run.ts';
import { followContinuation } from './follow-continuation.ts';
import { followFrames, messageFrames } from './follow-frames.ts';
import { metadataKey } from '../../shared/intertie-metadata.ts';
import { parseWireJson } from '../../shared/parse-wire-json.ts';
import { defined, isFields, type Fields } from '../../shared/read-fields.ts';
import { parseRunCursor, type RunCursor } from '../run-cursor.ts';
import { framesName, type RunFramesOptions } from './run-frames.ts';
import { readStoredTurn, type StoredTurn } from './find-stored-request.ts';
import { doneFrame, toUIMessageFrame, uiMessageStreamHeaders } from '../../ui-message-stream/sse/ui-message-sse.ts';

export interface DurableChatHandlerOptions extends ChatEncoderOptions {
  /**
   * What a run is given beside the message: the client's tools, context, state, and how it stands to other runs. Default: the
   * `tools`, `context` and `state` of the body. May throw a `Response` to refuse it.
   */
  prepare?: (
    asked: RunRequest,
    context: { request: Request; body: Fields },
  ) => PreparedRequest | undefined | Promise<PreparedRequest | undefined>;
  /** Who asks and answers, for the record. */
  by?: (request: Request) => string | undefined;
  /** The thread of a request to resume or stop. Default: what is before `/stream` or `/stop` in the path. */
  threadOf?: (request: Request) => string | undefined;
  /** What to do while a run of the thread is live. Default: `replace`, since a chat that stops only closes its connection. */
  busy?: NonNullable<RunRequest['busy']>;
  /** What to do while the answer before waits for a decision. Default: `supersede`. */
  pending?: NonNullable<RunRequest['pending']>;
  /**
   * Where a page reads a file that the store keeps as a blob. The same for the same file, always: what is told again must be
   * what was told. Default: as the store calls it, which no browser understands.
   */
  blobUrl?: BlobUrl;
  /**
   * Text of an error for the page, from the error as it is stored. Default: the text of our own errors, and for all others a
   * sentence with the run id, since the messages of providers may hold keys.
   */
  errorText?: (error: Fault) => string;
  /** After how long a silence a comment is sent, so that proxies keep the connection. Default: 15 seconds. */
  keepAliveMs?: number;
  /** How long after its end a message is told to a chat that asks for what it has missed. Default: 60 seconds. */
  replayEndedMs?: number;
  /** Limits of the request body, its JSON and its messages. */
  limits?: Partial<RequestLimits>;
  now?: () => number;
}

/** How long an answer waits to be told by the name of the run that goes on. After that it is told without a name. */
const namingMs = 200;

export type PreparedRequest = Partial<
  Pick<RunRequest, 'tools' | 'context' | 'state' | 'forwardedProps' | 'resourceId' | 'busy' | 'pending'>
>;

/** The chat of an agent whose runs are kept. Each method answers one kind of request, or throws why not. */
export class DurableChat {
  readonly #agent: DurableAgent;
  readonly #options: DurableChatHandlerOptions;

  constructor(agent: DurableAgent, options: DurableChatHandlerOptions) {
    this.#agent = agent;
    this.#options = options;
  }

  /** A new message, an edit, another attempt, or answers: the run that it starts or goes on with. */
  async send(request: Request): Promise<Response> {
    const { limits, onLoss = () => undefined, threadOf, blobUrl } = this.#options;
    const body = await readJsonBody(request, { limits, parse: parseWireJson });
    // Chats whose history is stored often send the last message alone.
    const isAlone = isFields(body) && body.messages === undefined && body.message !== undefined;
    const sent = isAlone ? { ...body, messages: [body.message] } : body;
    const asked = readChatRequest(sent, { generateId: () => threadOf?.(request) ?? generateId(), limits });
    const idempotencyKey = request.headers.get('idempotency-key') || undefined;
    const { store } = this.#agent;
    const turn = await readStoredTurn(asked, { store, onLoss, isAlone, ...defined({ blobUrl, idempotencyKey }) });
    if (turn.type === 'answer') return this.#answer(turn, asked.chatId, request);
    const { busy = 'replace', pending = 'supersede', prepare } = this.#options;
    const fields = isFields(body) ? body : {};
    const prepared = prepare ? await prepare(turn.request, { request, body: fields }) : bodyRunInput(fields);
    const run = await this.#agent.start({ busy, pending, ...this.#by(request), ...prepared, ...turn.request });
    return this.#follow(run, { baseline: 'restate' });
  }

  /**
   * What a chat has missed. With a cursor of ours, exactly what is behind it; else the whole message, while it is written
   * and for a moment after. 204: nothing is.
   */
  async resume(request: Request): Promise<Response> {
    const { searchParams } = new URL(request.url);
    const run = await this.#find(request, searchParams.get('run'));
    if (run === null) return new Response(null, { status: 204 });
    const record = await run.record();
    const cursor = parseRunCursor(searchParams.get('after') ?? '');
    if (cursor && (await this.#isPlace(run, cursor))) {
      for (const baseline of ['assume', 'restate'] as const) {
        const [, from = '0'] = /@(\d{1,15})$/.exec(cursor.encoder) ?? [];
        const options = { baseline, from: Number(from) };
        if (framesName({ ...this.#encoding, ...options }) === cursor.encoder) {
          return this.#follow(run, { ...options, after: cursor });
        }
      }
    }
    if (record.state === 'queued' || record.state === 'running') return this.#follow(run, { baseline: 'restate' });
    const { now = Date.now, replayEndedMs = 60_000 } = this.#options;
    const isFresh = record.endedAt !== undefined && now() - record.endedAt.getTime() < replayEndedMs;
    if (!isFresh && !searchParams.has('after')) return new Response(null, { status: 204 });
    const message = await this.#messageOf(run);
    if (message === null) return new Response(null, { status: 204 });
    const frames = messageFrames(message, { ...this.#encoding, baseline: 'restate' });
    return stream(frames, run);
  }

  /** Stops the thread's run; if one is named, that one and no other. */
  async stop(request: Request): Promise<Response> {
    const named = new URL(request.url).searchParams.get('run');
    const run = await this.#find(request, named);
    if (run === null) throw new ChatRefusedError(404, 'not-found', 'There is no such run to stop.');
    return Response.json({ run: run.runId, result: await run.stop() });
  }

  async #answer(turn: StoredTurn & { type: 'answer' }, threadId: string, request: Request): Promise<Response> {
    const { runId, answers, message, seq } = turn;
    if (answers.length === 0) return this.#attach(turn, threadId);
    const tail = await this.#tail(runId, threadId);
    const { by } = this.#by(request);
    const { verdicts, open, run } = await this.#agent.answer({ runId, threadId }, answers, by, {
      patienceMs: namingMs,
    });
    const isTaken = verdicts.some(({ result }) => result === 'accepted' || result === 'duplicate');
    if (!isTaken) throw refusedAnswer(verdicts);
    if (run?.runId === runId && this.#agent.source.pauses !== 'live') {
      // It has more to do before it pauses. No run is named: which one goes on is known, and said, when it starts.
      const frames = this.#frames(followContinuation(this.#agent, run), { baseline: 'assume' });
      return stream(frames, { messageId: run.messageId });
    }
    if (run) {
      // A run that waits in its process goes on in the same log, and the chat has what is before.
      const from = run.runId === runId ? Math.min(seq ?? tail, tail) : 0;
      const answered = answers.flatMap((answer) => ('questionId' in answer ? [answer.questionId] : []));
      return this.#follow(run, { baseline: 'assume', from }, answered);
    }
    const waitingFor = open.map(({ id, kind }): Waiting =>
      kind === 'client-tool' ? { type: 'tool', toolCallId: id } : { type: 'question', questionId: id },
    );
    // Noted, and nothing goes on before the rest is answered too.
    const slot = { messageMetadata: { [metadataKey]: { waitingFor } } };
    const frames = [{ type: 'start', messageId: message.id, ...slot }, { type: 'finish' }];
    const text = frames.map((frame) => toUIMessageFrame(frame)).join('') + doneFrame;
    return stream(text, { runId, messageId: message.id });
  }

  /** Nothing new was said: what goes on anyway is shown. */
  async #attach(turn: StoredTurn & { type: 'answer' }, threadId: string): Promise<Response> {
    const { message, runId, seq = 0 } = turn;
    const run = await this.#writing(threadId, message.id);
    const state = (await run?.record())?.state;
    if (run?.messageId === message.id && (state === 'running' || state === 'queued')) {
      const from = run.runId === runId ? Math.min(seq, await this.#tail(runId, threadId)) : 0;
      return this.#follow(run, { baseline: 'assume', from });
    }
    const why = `Message ${message.id} waits for nothing, or for answers that were not given.`;
    throw new ChatRefusedError(409, 'nothing-to-continue', `${why} Send a message, or answer what it asks.`);
  }

  /** Who may be writing a message: what was asked for last, or what runs before it. */
  async #writing(threadId: string, messageId: string): Promise<DurableRun | null> {
    const latest = await this.#agent.latest({ threadId });
    if (latest === null || latest.messageId === messageId) return latest;
    const { registry, scope } = this.#agent.store;
    const live = await registry.liveRun(scope, { threadId });
    return live && this.#agent.find({ runId: live.runId, threadId });
  }

  async #find(request: Request, runId: string | null): Promise<DurableRun | null> {
    const threadId = this.#options.threadOf?.(request) ?? threadInPath(request);
    if (threadId === undefined) {
      throw new ChatRequestError('The path names no thread. Ask for …/<thread>/stream or …/<thread>/stop.');
    }
    if (runId === null) return this.#agent.latest({ threadId });
    const run = await this.#agent.find({ runId, threadId });
    if (run === null) throw new ChatRefusedError(404, 'not-found', `Thread ${threadId} has no run ${runId}.`);
    return run;
  }

  async #isPlace(run: DurableRun, { position }: RunCursor): Promise<boolean> {
    const { key } = await run.record();
    const page = await this.#agent.store.log.read(key, position, 1);
    return page.valid && !page.dropped && position.seq <= page.tail;
  }

  /** The number of the last event of a run's log, where it may wait inside its process; elsewhere nobody asks. */
  async #tail(runId: string, threadId: string): Promise<number> {
    if (this.#agent.source.pauses !== 'live') return 0;
    const { registry, log, scope } = this.#agent.store;
    const record = await registry.findRun(scope, { runId, threadId });
    const position = record && (await log.positions([record.key])).get(record.key);
    return position ? position.next - 1 : 0;
  }

  async #follow(
    run: DurableRun,
    place: Pick<RunFramesOptions, 'baseline' | 'from' | 'after'>,
    answered: readonly string[] = [],
  ): Promise<Response> {
    const isLive = this.#agent.source.pauses === 'live';
    const waits = isLive && { waits: { tail: await this.#tail(run.runId, run.threadId), answered } };
    return stream(this.#frames(run, { ...place, ...waits }), run);
  }

  #frames(run: DurableRun, place: Pick<RunFramesOptions, 'baseline' | 'from' | 'after' | 'waits'>) {
    const { keepAliveMs = 15_000 } = this.#options;
    const message = () => this.#messageOf(run);
    return followFrames(run, { ...this.#encoding, ...place, keepAliveMs, message });
  }

  #messageOf({ threadId, messageId }: DurableRun) {
    return this.#agent.store.getMessage({ threadId, messageId });
  }

  #by(request: Request): { by?: string } {
    const by = this.#options.by?.(request);
    return by === undefined ? {} : { by };
  }

  get #encoding(): ChatEncoderOptions & Pick<RunFramesOptions, 'errorText' | 'blobUrl'> {
    const { version, sendReasoning, sendSources, includeInternal, staticTools, onLoss, blobUrl } = this.#options;
    const { errorText } = this.#options;
    return defined({ version, sendReasoning, sendSources, includeInternal, staticTools, onLoss, blobUrl, errorText });
  }
}

function stream(body: string | ReadableStream<Uint8Array>, run: { runId?: string; messageId: string }): Response {
  return new Response(body, { headers: { ...uiMessageStreamHeaders, ...toRunHeaders(run) } });
}

function threadInPath(request: Request): string | undefined {
  const [, thread] = /\/([^/]+)\/(?:stream|stop)\/?$/.exec(new URL(request.url).pathname) ?? [];
  if (thread === undefined) return undefined;
  try {
    return decodeURIComponent(thread);
  } catch {
    throw new ChatRequestError('The thread in the path is not well written: write it with encodeURIComponent.');
  }
}

function refusedAnswer(verdicts: readonly AnswerVerdict[]): ChatRefusedError {
  const conflict = verdicts.find(({ result }) => result === 'conflict');
  if (conflict?.result === 'conflict') {
    const { id, answeredBy, answeredAt } = conflict;
    const who = answeredBy === undefined ? '' : ` by ${answeredBy}`;
    const when = answeredAt === undefined ? '' : ` at ${answeredAt.toISOString()}`;
    return new ChatRefusedError(409, 'already-answered', `${id} was answered otherwise${who}${when}.`);
  }
  const result = verdicts.find((verdict) => verdict.result === 'expired')?.result ?? 'cancelled';
  const ids = verdicts.map(({ id }) => id).join(', ');
  return new ChatRefusedError(409, result, `${ids}: the time to answer is over, since it was ${result}.`);
}
