import {
  generateId,
  RunRefusedError,
  type AgentSource,
  type Answer,
  type CanonicalMessage,
  type DurableAgent,
  type RunRecord,
  type RunRequest,
  type Store,
} from '@intertie/core';
import type { Answered, AnswerOptions } from '@intertie/core/internal';
import type {
  AnswerRequest,
  LogPosition,
  MessageInput,
  Refused,
  StartRequest,
  StartResult,
  ToolAnswer,
} from '@intertie/core/store';
import type { ToolSet } from 'ai';
import { homeOf, type AgentRuntime } from './agent-runtime.ts';
import type { AgentOptions, GeneratedAnswer, StreamRequest } from './agent-options.ts';
import { findContinuation } from '../execution/find-continuation.ts';
import { importMessages, type ImportReport, type ImportRequest } from './import-messages.ts';
import { PendingRun } from './pending-run.ts';
import { continuedInput, keepInput } from '../execution/prepare-run.ts';
import type { CloseOptions } from '../execution/run-host.ts';
import { Run } from './run.ts';
import { StoredRun } from '../execution/stored-run.ts';
import { readHistory, type HistoryFormat, type HistoryPage, type HistoryQuery } from '../history/thread-history.ts';
import { introduceThread, introductionOf } from './thread-title.ts';
import { readUsage, type UsageReport } from '../telemetry/thread-usage.ts';
import { toRunRequest } from './to-run-request.ts';

/**
 * A model or any other source, whose runs are kept: they go on whoever reads them, are stopped from anywhere, wait for
 * people, survive their process, and branch.
 */
export class Agent<Tools extends ToolSet = ToolSet> implements DurableAgent {
  readonly name: string;
  readonly source: AgentSource;
  readonly store: Store;
  /** The tools that it was given, for `InferIntertieUIMessage`. */
  declare readonly tools?: Tools;
  #home: AgentRuntime;

  constructor(options: AgentOptions<Tools>, home: AgentRuntime = homeOf(options)) {
    this.#home = home;
    this.name = home.definition.name;
    this.source = home.definition.source;
    this.store = home.store;
  }

  forScope(scope: string): Agent<Tools> {
    const { definition, host, store } = this.#home;
    return new Agent<Tools>({ source: this.source }, { definition, host, store: store.forScope(scope) });
  }

  /** Starts a run. It can be read at once, and awaited. */
  stream(request: StreamRequest): PendingRun {
    return new PendingRun(this.#stream(request));
  }

  async #stream(request: StreamRequest): Promise<Run> {
    const { answers, signal } = request;
    signal?.throwIfAborted();
    const { onLoss } = this.#home.definition;
    const started = answers
      ? await this.#continued(request, answers)
      : await this.start(await toRunRequest(request, this.store, onLoss));
    const run = new Run(started, this.store);
    if (signal) stopOn(signal, run);
    return run;
  }

  async #continued(
    { threadId, runId, by }: StreamRequest,
    answers: ReadonlyArray<Answer | ToolAnswer>,
  ): Promise<StoredRun> {
    if (threadId === undefined) throw new TypeError('Answers need the `threadId` of the thread whose run they answer.');
    const asked = runId === undefined ? await this.#asking(threadId) : await this.find({ runId, threadId });
    if (!asked) throw new RunRefusedError({ code: 'not-found', what: 'run' });
    const { run, open } = await this.answer(asked, answers, by);
    if (run) return run as StoredRun;
    if (open.length > 0) throw new RunRefusedError({ code: 'pending', decisions: open });
    return asked;
  }

  /** Who may be waiting for answers: what runs, or else what was last. What only waits its turn has asked nothing yet. */
  async #asking(threadId: string): Promise<StoredRun | null> {
    const live = await this.store.registry.liveRun(this.store.scope, { threadId });
    return live ? this.#stored(live) : this.latest({ threadId });
  }

  /** A run to its end. */
  async generate(request: StreamRequest): Promise<GeneratedAnswer> {
    const run = await this.stream(request);
    const message = await run.message;
    const { runId, threadId } = run;
    return { text: textOf(message), message, runId, threadId };
  }

  /** Follows a run that any process has started. Null: there is none of that name. */
  async attach(
    runId: string,
    { after, threadId }: { after?: LogPosition; threadId?: string } = {},
  ): Promise<Run | null> {
    const found = await this.find({ runId, ...(threadId !== undefined && { threadId }) });
    return found && new Run(found, this.store, after);
  }

  async start(request: RunRequest): Promise<StoredRun> {
    const { host, store, definition } = this.#home;
    await host.open();
    host.checkLoad(this.name);
    const { threadId = generateId(), runId = generateId(), busy = 'reject', pending = 'supersede' } = request;
    const message = request.message && toMessageInput(request.message, threadId, request.resourceId);
    const idempotency = await this.#idempotency(request, threadId);
    const { parentId, resourceId, by } = request;
    const thread = introductionOf(definition, threadId, message as CanonicalMessage | undefined);
    const asked: StartRequest = {
      threadId,
      runId,
      agent: this.name,
      process: host.process,
      messageId: generateId(),
      busy,
      pending,
      input: keepInput(request),
      ...(thread && { thread }),
      ...(message && { message }),
      ...(parentId !== undefined && { parentId }),
      ...(resourceId !== undefined && { resourceId }),
      ...(idempotency && { idempotency }),
      ...(by !== undefined && { createdBy: by }),
    };
    const begin = (): Promise<StartResult> =>
      host.own(
        () => store.registry.start(store.scope, asked),
        (started) => {
          if (started.type === 'started') host.execute(started, definition);
          if (started.type === 'queued') host.enqueue(started, busy === 'replace');
          return started;
        },
      );
    let result = await begin();
    if (result.type === 'refused' && result.reason === 'busy' && host.isRecovering(result.live)) {
      // The run of a dead process does not make the thread busy.
      await host.recovered();
      result = await begin();
    }
    if (result.type === 'refused') {
      // A run's own id is its key where no other was given; then it is the id that is taken.
      const isOwnKey = request.idempotencyKey === undefined && result.reason === 'key-reused' && result.run;
      throw toRefusal(isOwnKey ? { type: 'refused', reason: 'run-exists', run: isOwnKey } : result);
    }
    const isIntroduced = result.type === 'started' && result.messages !== undefined && thread !== undefined;
    if (result.type !== 'attached' && !isIntroduced) {
      const first = message as CanonicalMessage | undefined;
      host.track(introduceThread(store, definition, threadId, first));
    }
    return this.#stored(result.run);
  }

  async find(query: { runId: string; threadId?: string }): Promise<StoredRun | null> {
    const record = await this.store.registry.findRun(this.store.scope, query);
    return record && this.#stored(record);
  }

  async latest({ threadId }: { threadId: string }): Promise<StoredRun | null> {
    const { registry, scope } = this.store;
    const [live, newest] = await Promise.all([registry.liveRun(scope, { threadId }), this.#runOfHead(threadId)]);
    // What waits its turn is what was asked for last, and its message stands behind that of the live one.
    const run = newest?.state === 'queued' ? newest : (live ?? newest);
    const last = run ?? (await registry.listRuns(scope, { threadId })).at(-1);
    return last ? this.#stored(last) : null;
  }

  /** The head is the placeholder of the newest run, as long as nobody has moved it. */
  async #runOfHead(threadId: string): Promise<RunRecord | null> {
    const { headId } = (await this.store.getThreadById({ threadId })) ?? {};
    const head = headId === undefined ? null : await this.store.getMessage({ threadId, messageId: headId });
    const { registry, scope } = this.store;
    return head?.runId === undefined ? null : registry.findRun(scope, { runId: head.runId, threadId });
  }

  /** By the run's id, or by the id and its thread's where several threads use the same. */
  async answer(
    query: string | { runId: string; threadId?: string },
    answers: ReadonlyArray<Answer | ToolAnswer>,
    by?: string,
    { patienceMs }: AnswerOptions = {},
  ): Promise<Answered> {
    const { host, store } = this.#home;
    const { registry, scope } = store;
    await host.open();
    const { runId, threadId } = typeof query === 'string' ? { runId: query } : query;
    const record = await registry.findRun(scope, { runId, ...(threadId !== undefined && { threadId }) });
    if (!record) throw new RunRefusedError({ code: 'not-found', what: 'run' });
    const request: AnswerRequest = {
      answers,
      ...(by !== undefined && { by }),
      continuation: { runId: generateId(), process: host.process, input: continuedInput(record) },
    };
    const result = await host.own(
      () => registry.answer(scope, record.key, request),
      (answered) => {
        if (answered?.continuation?.ownership) host.execute(answered.continuation.ownership);
        return answered;
      },
    );
    if (!result) throw new RunRefusedError({ code: 'not-found', what: 'run' });
    const { verdicts, open, continuation, live } = result;
    const isTaken = verdicts.some(({ result: verdict }) => verdict === 'accepted' || verdict === 'duplicate');
    const goesOn = live && isTaken && open.length === 0;
    const next = continuation?.run ?? (goesOn ? await this.#goesOn(record, patienceMs) : undefined);
    return { verdicts, open, ...(next && { run: this.#stored(next) }) };
  }

  /** Of a run that was answered while it is live: itself, if it waits inside its process, or else what continues it. */
  async #goesOn(record: RunRecord, patienceMs?: number): Promise<RunRecord | undefined> {
    const { host, store } = this.#home;
    const agent = host.agent(record.agent);
    const waits = agent ? agent.source.pauses === 'live' : record.waiting;
    return waits ? record : findContinuation(store, this.#stored(record), patienceMs);
  }

  /** A thread's messages along a branch, page by page, as they are stored or as the AI SDK has them. */
  history<Format extends HistoryFormat = 'canonical'>(query: HistoryQuery<Format>): Promise<HistoryPage<Format>> {
    return readHistory(this.store, query);
  }

  /** What a thread has consumed, by run and by agent. */
  usage({ threadId }: { threadId: string }): Promise<UsageReport> {
    return readUsage(this.store, threadId);
  }

  /** Takes in a conversation that was had elsewhere, and says what of it was lost. */
  importMessages(request: ImportRequest): Promise<ImportReport> {
    return importMessages(this.store, request, this.#home.definition);
  }

  /** Lets runs end, stops those that do not, and gives up what the process holds. Other agents on the same store end too. */
  close(options?: CloseOptions): Promise<void> {
    return this.#home.host.close(options);
  }

  #stored(record: RunRecord): StoredRun {
    return new StoredRun(this.#home.host, this.store, record);
  }

  async #idempotency(request: RunRequest, threadId: string): Promise<{ key: string; hash: string } | undefined> {
    const { idempotencyKey, runId, message } = request;
    if (idempotencyKey === undefined && (runId === undefined || request.threadId === undefined)) return undefined;
    const key = idempotencyKey ?? `run:${await hashText(JSON.stringify([threadId, runId]))}`;
    return { key, hash: await hashText(JSON.stringify([this.name, message?.content ?? null])) };
  }
}

function toMessageInput(
  { id = generateId(), createdAt = new Date(), content }: NonNullable<RunRequest['message']>,
  threadId: string,
  resourceId: string | undefined,
): MessageInput {
  const owner = resourceId === undefined ? {} : { resourceId };
  return { id, threadId, role: 'user', type: 'text', content, createdAt, ...owner };
}

function stopOn(signal: AbortSignal, run: Run): void {
  const stop = (): void =>
    void run.stop(typeof signal.reason === 'string' ? signal.reason : undefined).catch(() => undefined);
  if (signal.aborted) return stop();
  signal.addEventListener('abort', stop, { once: true });
  const leave = (): void => signal.removeEventListener('abort', stop);
  run.message.then(leave, leave);
}

function textOf({ content }: CanonicalMessage): string {
  return content.parts.map((part) => (part.type === 'text' && !part.internal ? part.text : '')).join('');
}

function toRefusal(refused: Refused): RunRefusedError {
  switch (refused.reason) {
    case 'busy':
    case 'queue-full':
      return new RunRefusedError({ code: refused.reason, live: refused.live });
    case 'pending':
      return new RunRefusedError({ code: 'pending', decisions: refused.decisions });
    case 'key-reused':
      return new RunRefusedError({ code: 'key-reused', run: refused.run });
    case 'run-exists':
      return new RunRefusedError({ code: 'run-exists', run: refused.run });
    case 'not-found':
      return new RunRefusedError({ code: 'not-found', what: refused.what });
  }
}

/** Returns the SHA-256 of a text as hexadecimal digits. */
async function hashText(text: string): Promise<string> {
  const digest = new Uint8Array(await globalThis.crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
