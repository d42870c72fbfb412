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
import type { AnswerRequest, LogPosition, MessageInput, Refused, StartRequest, ToolAnswer } from '@intertie/core/store';
import type { ToolSet } from 'ai';
import { createAgentRuntime, type AgentRuntime } from './agent-runtime.ts';
import type { AgentOptions, GeneratedAnswer, StreamRequest } from './agent-options.ts';
import { findContinuation } from '../execution/find-continuation.ts';
import { importMessages, type ImportReport, type ImportRequest } from './import-messages.ts';
import { PendingRun } from './pending-run.ts';
import { toContinuationInput, toStoredInput } from '../execution/prepare-run.ts';
import type { CloseOptions } from '../execution/run-host.ts';
import { Run } from './run.ts';
import { StoredRun } from '../execution/stored-run.ts';
import { getReadLimit } from '../history/read-branch.ts';
import { readHistory, type HistoryFormat, type HistoryPage, type HistoryQuery } from '../history/thread-history.ts';
import { saveThreadFields, getThreadFields } from './thread-title.ts';
import { readUsage, type UsageReport } from '../telemetry/thread-usage.ts';
import { toRunRequest } from './to-run-request.ts';

/**
 * Turns a model or any other source into an agent with durable runs. A run continues when its readers disconnect, can be
 * stopped and followed from any process, pauses for answers, survives its process, and can branch.
 */
export class Agent<Tools extends ToolSet = ToolSet> implements DurableAgent {
  readonly name: string;
  readonly source: AgentSource;
  readonly store: Store;
  /** Type of the agent's tools, for `InferIntertieUIMessage`. It has no value at runtime. */
  declare readonly tools?: Tools;
  #runtime: AgentRuntime;

  constructor(options: AgentOptions<Tools>, runtime: AgentRuntime = createAgentRuntime(options)) {
    this.#runtime = runtime;
    this.name = runtime.definition.name;
    this.source = runtime.definition.source;
    this.store = runtime.store;
  }

  forScope(scope: string): Agent<Tools> {
    const { definition, host, store } = this.#runtime;
    return new Agent<Tools>({ source: this.source }, { definition, host, store: store.forScope(scope) });
  }

  /**
   * Connects to the store, acquires the lease of this process, and begins to continue or end the runs of dead processes. Otherwise
   * the first call does so. The agents of a store share a host, so one call is enough, after all of them are created.
   */
  open(): Promise<void> {
    return this.#runtime.host.open();
  }

  /** Starts a run. The result can be streamed immediately, or awaited for the ids. */
  stream(request: StreamRequest): PendingRun {
    return new PendingRun(this.#stream(request));
  }

  async #stream(request: StreamRequest): Promise<Run> {
    const { answers, signal } = request;
    signal?.throwIfAborted();
    const { onLoss } = this.#runtime.definition;
    const started = answers
      ? await this.#answerAndContinue(request, answers)
      : await this.start(await toRunRequest(request, this.store, onLoss));
    const run = new Run(started, this.store);
    if (signal) stopOn(signal, run);
    return run;
  }

  async #answerAndContinue(
    { threadId, runId, by }: StreamRequest,
    answers: ReadonlyArray<Answer | ToolAnswer>,
  ): Promise<StoredRun> {
    if (threadId === undefined) throw new TypeError('Answers need the `threadId` of the thread whose run they answer.');
    const asking = runId === undefined ? await this.#findAnswerable(threadId) : await this.find({ runId, threadId });
    if (!asking) throw new RunRefusedError({ code: 'not-found', what: 'run' });
    const { run, open } = await this.answer(asking, answers, by);
    if (run) return run as StoredRun;
    if (open.length > 0) throw new RunRefusedError({ code: 'pending', decisions: open });
    return asking;
  }

  /** Returns the run that can have open questions: the live one, or else the latest. A queued run has asked nothing yet. */
  async #findAnswerable(threadId: string): Promise<StoredRun | null> {
    const live = await this.store.registry.liveRun(this.store.scope, { threadId });
    return live ? this.#toStoredRun(live) : this.latest({ threadId });
  }

  /** Starts a run and waits for its end. */
  async generate(request: StreamRequest): Promise<GeneratedAnswer> {
    const run = await this.stream(request);
    const message = await run.message;
    const { runId, threadId } = run;
    return { text: getPublicText(message), message, runId, threadId };
  }

  /** Returns a run that any process has started, or null if the store does not have it. */
  async attach(
    runId: string,
    { after, threadId }: { after?: LogPosition; threadId?: string } = {},
  ): Promise<Run | null> {
    const found = await this.find({ runId, ...(threadId !== undefined && { threadId }) });
    return found && new Run(found, this.store, after);
  }

  async start(request: RunRequest): Promise<StoredRun> {
    const { host, store, definition } = this.#runtime;
    await host.open();
    host.checkLoad(this.name);
    const { threadId = generateId(), runId = generateId(), busy = 'reject', pending = 'supersede' } = request;
    const message = request.message && toMessageInput(request.message, threadId, request.resourceId);
    const idempotency = await this.#getIdempotency(request, threadId);
    const { parentId, resourceId, by, branchKey, hidden } = request;
    const fields = getThreadFields(definition, threadId, message as CanonicalMessage | undefined);
    const historyLimit = getReadLimit(definition.history);
    const startRequest: StartRequest = {
      threadId,
      runId,
      agent: this.name,
      process: host.process,
      messageId: generateId(),
      busy,
      resumable: host.resumable,
      pending,
      ...(historyLimit < Infinity && { historyLimit }),
      input: toStoredInput(request),
      ...((fields || hidden) && { thread: { ...fields, ...(hidden && { hidden }) } }),
      ...(branchKey !== undefined && { branchKey }),
      ...(message && { message }),
      ...(parentId !== undefined && { parentId }),
      ...(resourceId !== undefined && { resourceId }),
      ...(idempotency && { idempotency }),
      ...(by !== undefined && { createdBy: by }),
    };
    let result = await host.startRun(store, startRequest, definition);
    if (result.type === 'refused' && result.reason === 'busy' && host.isRecovering(result.live)) {
      // The live run belongs to a dead process. This process is ending it.
      await host.recoverDeadRuns();
      result = await host.startRun(store, startRequest, definition);
    }
    if (result.type === 'refused') {
      // Without an idempotency key the run id is the key, so the conflict is reported as an existing run.
      const isOwnKey = request.idempotencyKey === undefined && result.reason === 'key-reused' && result.run;
      throw toRefusal(isOwnKey ? { type: 'refused', reason: 'run-exists', run: isOwnKey } : result);
    }
    const isIntroduced = result.type === 'started' && result.isNewThread && fields !== undefined;
    if (result.type !== 'attached' && !isIntroduced) {
      const first = message as CanonicalMessage | undefined;
      host.track(saveThreadFields(store, definition, threadId, first));
    }
    return this.#toStoredRun(result.run);
  }

  async find(query: { runId: string; threadId?: string }): Promise<StoredRun | null> {
    this.#runtime.host.openForReading();
    const record = await this.store.registry.findRun(this.store.scope, query);
    return record && this.#toStoredRun(record);
  }

  async latest({ threadId }: { threadId: string }): Promise<StoredRun | null> {
    this.#runtime.host.openForReading();
    const { registry, scope } = this.store;
    const [live, newest] = await Promise.all([registry.liveRun(scope, { threadId }), this.#findHeadRun(threadId)]);
    // A queued run is newer than the live one, and its message follows the live one's.
    const run = newest?.state === 'queued' ? newest : (live ?? newest);
    const last = run ?? (await registry.listRuns(scope, { threadId })).at(-1);
    return last ? this.#toStoredRun(last) : null;
  }

  /** Returns the run of the thread's head: the newest run, unless the head was moved. */
  async #findHeadRun(threadId: string): Promise<RunRecord | null> {
    const { headId } = (await this.store.getThreadById({ threadId })) ?? {};
    const head = headId === undefined ? null : await this.store.getMessage({ threadId, messageId: headId });
    const { registry, scope } = this.store;
    return head?.runId === undefined ? null : registry.findRun(scope, { runId: head.runId, threadId });
  }

  /** Answers questions of a run. `query` needs the `threadId` if several threads use the same run id. */
  async answer(
    query: string | { runId: string; threadId?: string },
    answers: ReadonlyArray<Answer | ToolAnswer>,
    by?: string,
    { timeoutMs }: AnswerOptions = {},
  ): Promise<Answered> {
    const { host, store } = this.#runtime;
    const { registry, scope } = store;
    await host.open();
    const { runId, threadId } = typeof query === 'string' ? { runId: query } : query;
    const record = await registry.findRun(scope, { runId, ...(threadId !== undefined && { threadId }) });
    if (!record) throw new RunRefusedError({ code: 'not-found', what: 'run' });
    const request: AnswerRequest = {
      answers,
      ...(by !== undefined && { by }),
      continuation: { runId: generateId(), process: host.process, input: toContinuationInput(record) },
    };
    const result = await host.acquireRun(
      () => registry.answer(scope, record.key, request),
      (answered) => {
        if (answered?.continuation?.ownership) host.execute(answered.continuation.ownership);
        return answered;
      },
    );
    if (!result) throw new RunRefusedError({ code: 'not-found', what: 'run' });
    const { verdicts, open, continuation, live } = result;
    const isAccepted = verdicts.some(({ result: verdict }) => verdict === 'accepted' || verdict === 'duplicate');
    const isContinued = live && isAccepted && open.length === 0;
    const next = continuation?.run ?? (isContinued ? await this.#findAnsweredRun(record, timeoutMs) : undefined);
    return { verdicts, open, ...(next && { run: this.#toStoredRun(next) }) };
  }

  /** Returns the run that uses answers given to a live run: the run itself if it waits in its process, or its continuation. */
  async #findAnsweredRun(record: RunRecord, timeoutMs?: number): Promise<RunRecord | undefined> {
    const { host, store } = this.#runtime;
    const agent = host.findAgent(record.agent);
    const isWaiting = agent ? agent.source.pauses === 'live' : record.waiting;
    return isWaiting ? record : findContinuation(store, this.#toStoredRun(record), timeoutMs);
  }

  /** Reads a page of a thread's messages along a branch, in canonical or AI SDK format. */
  history<Format extends HistoryFormat = 'canonical'>(query: HistoryQuery<Format>): Promise<HistoryPage<Format>> {
    this.#runtime.host.openForReading();
    return readHistory(this.store, query);
  }

  /** Reports the token usage of a thread, by run and by agent. */
  usage({ threadId }: { threadId: string }): Promise<UsageReport> {
    return readUsage(this.store, threadId);
  }

  /** Imports a conversation of another system into the store, and reports losses. */
  importMessages(request: ImportRequest): Promise<ImportReport> {
    return importMessages(this.store, request, this.#runtime.definition);
  }

  /** Drains and closes the host, see `RunHost.close`. Other agents of the same host are closed too. */
  close(options?: CloseOptions): Promise<void> {
    return this.#runtime.host.close(options);
  }

  #toStoredRun(record: RunRecord): StoredRun {
    return new StoredRun(this.#runtime.host, this.store, record);
  }

  async #getIdempotency(request: RunRequest, threadId: string): Promise<{ key: string; hash: string } | undefined> {
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

function getPublicText({ content }: CanonicalMessage): string {
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
