import { generateId, RunRefusedError, toFault, type End, type Fault, type RunRecord, type Store } from '@intertie/core';
import {
  createRunFlusher,
  createRunWatcher,
  createSweeper,
  followRun,
  pause,
  type FlushReport,
  type Followed,
  type RunFlusher,
  type RunWatcher,
  type StopReason,
  type Sweeper,
} from '@intertie/core/internal';
import type {
  FinishResult,
  LogPosition,
  Ownership,
  Queued,
  RunKey,
  Scope,
  StartRequest,
  StartResult,
} from '@intertie/core/store';
import type { AgentDefinition } from './agent-definition.ts';
import { endOwnedRun } from './end-owned-run.ts';
import { startAsyncInterval } from './async-interval.ts';
import { Execution } from './execution.ts';
import { HostedStreams } from './hosted-streams.ts';
import { Lease } from './lease.ts';
import { toStore, type MessageStore } from '../history/message-store.ts';
import { OrphanRuns } from './orphan-runs.ts';
import { OwnershipCalls } from './ownership-calls.ts';
import { Deadline } from './deadline.ts';
import type { Observe, RunObserver, RunResult } from '../telemetry/run-observer.ts';
import { RunRelay } from './run-relay.ts';
import { findTakeoverEnd, toStopEnd } from './takeover-end.ts';
import { UnreadRuns } from './unread-runs.ts';

export type RunHostOptions = {
  /**
   * Name of this process, unique among all processes that share the store: a process ends runs that are assigned to its name
   * and that it does not execute. Default: a new id.
   */
  process?: string;
  /** Interval of flushes to the log. Default: 40 ms. */
  tickMs?: number;
  /** Interval of lease renewals. Default: a third of the lease, at most 5 s. The lease duration is an option of the store. */
  heartbeatMs?: number;
  /** Interval of the search for runs of dead processes. Default: a third of the lease, at most 5 s. */
  sweepMs?: number;
  /** Maximum number of executions of a run whose processes die. Then the run ends with an error. Default: 3. */
  maxAttempts?: number;
  /** Maximum time that a replaced run may take to end, before it is ended by the host. Default: 2 s. */
  replaceSilenceMs?: number;
  /** Retention of a run's log after its end. Default: 10 minutes. */
  logRetentionMs?: number;
  /**
   * Longest outage of the database that a run waits for when it is prepared or asks a question, and that a reader waits
   * for. Then the run, or the stream of the reader, ends with code `database-away`. Events and the end of a run wait in
   * memory without this limit. Default: 5 minutes.
   */
  maxOutageMs?: number;
  /** Maximum number of runs that this process executes at once; `start` refuses more as `overloaded`. Default: no limit. */
  maxRuns?: number;
  /** Whether new runs are refused as `overloaded` for another reason, such as a busy event loop. */
  isOverloaded?: () => boolean;
  /** Receives measurements, for metrics. */
  observer?: RunObserver;
  /** Receives errors of operations that are tried again. */
  onError?: (error: unknown) => void;
  /** Called when a run ends with an error, with the error as it is stored. Clients see a text without its details. */
  onRunError?: (run: RunRecord, error: Fault) => void;
};

export type CloseOptions = {
  /**
   * Maximum time that active runs may take to end, and tools of runs that are handed over. Then the runs are stopped or handed over.
   * Default: 0.
   */
  drainMs?: number;
  /**
   * Whether runs that another process can continue may take `drainMs` too, instead of being handed over at once. For a host that is
   * replaced while its process lives. Default: false.
   */
  handOverLast?: boolean;
};

/** Maximum time for a sweep, and then for the ends of stopped runs. Other processes take over the remaining runs. */
const closeGraceMs = 5_000;
const shutdown: StopReason = { by: 'system', message: 'shutdown' };
const abandoned: End = {
  reason: 'error',
  error: {
    message:
      'The connection to the database broke while the run was assigned to a process. Its output so far is kept. Send the message again.',
    code: 'lost',
  },
};
const replaced: End = { reason: 'aborted', by: 'system', message: 'replaced' };
/** Delay between a hint about a released run and the sweep. A process that shuts down releases many runs at once. */
const releaseDelayMs = 50;
/** Maximum time for delivering the ends of runs to readers on shutdown. */
const endDeliveryMs = 250;

/**
 * Executes the runs of one process on one store: holds the flusher, watcher, sweeper and lease that all its agents use.
 * Agents on the same store share a host; `createRunHost` creates one with options.
 */
export class RunHost {
  readonly process: string;
  readonly store: Store;
  readonly flusher: RunFlusher;
  readonly watcher: RunWatcher;
  readonly relay: RunRelay;
  readonly maxOutageMs: number;
  readonly onError: (error: unknown) => void;
  readonly onRunError: (run: RunRecord, error: Fault) => void;
  #options: RunHostOptions;
  #sweeper: Sweeper;
  #streams = new HostedStreams();
  #agents = new Map<string, AgentDefinition>();
  #executions = new Map<RunKey, Execution>();
  /** Runs that this process owns, does not execute, and is about to end. */
  #ending = new Set<RunKey>();
  #calls: OwnershipCalls;
  #orphans: OrphanRuns;
  #unread: UnreadRuns;
  #work = new Set<Promise<unknown>>();
  #lease: Lease | undefined;
  #opened: Promise<void> | undefined;
  #closed: Promise<void> | undefined;
  #timers: Array<() => void> = [];
  #closing = new AbortController();
  #drainDeadline = new Deadline();
  /** Runs that can continue are handed over, because there is another process, or will be. */
  #isHandingOver = false;
  /** Runs that start now are stopped immediately. */
  #isStopping = false;

  constructor(store: Store, options: RunHostOptions = {}) {
    const { tickMs, logRetentionMs, onError = () => undefined, onRunError = () => undefined } = options;
    this.store = store;
    this.process = options.process ?? generateId();
    this.onError = onError;
    this.maxOutageMs = options.maxOutageMs ?? 5 * 60_000;
    this.onRunError = onRunError;
    this.#options = options;
    const { process } = this;
    this.#calls = new OwnershipCalls(onError);
    this.#orphans = new OrphanRuns({
      registry: store.registry,
      process,
      calls: this.#calls,
      known: () => [...this.#executions.keys(), ...this.#ending],
    });
    this.#unread = new UnreadRuns({ store, onError, stop: (scope, run) => this.#stopUnread(scope, run) });
    const onFlush = (flush: FlushReport): void => this.observe('flushed', flush);
    this.flusher = createRunFlusher({ log: store.log, onError, onFlush, ...(tickMs !== undefined && { tickMs }) });
    this.watcher = createRunWatcher({ log: store.log, hints: store.hints, process, local: this.flusher, onError });
    this.relay = new RunRelay({ log: store.log, watcher: this.watcher, local: this.flusher, onError });
    this.#sweeper = createSweeper({
      store,
      process,
      onError,
      startRun: (owned) => this.execute(owned),
      resumeRun: async (owned) => {
        const end = await this.#findEnd(owned);
        if (end) return end;
        this.execute(owned);
        return true;
      },
      agents: () => [...this.#agents.keys()],
      trustsLeases: () => this.#lease?.isReliable === true,
      onRecovered: (run, end) => this.#reportRecovered(run, end),
      ...(logRetentionMs !== undefined && { logRetentionMs }),
    });
  }

  /** Whether new runs are refused. */
  get isClosing(): boolean {
    return this.#closed !== undefined;
  }

  /** Number of runs that this process executes. */
  get running(): number {
    return this.#executions.size;
  }

  /** Whether another process may have taken over runs of this one, because its lease may have expired. */
  get isLeaseUncertain(): boolean {
    return this.#lease?.isHeld === false;
  }

  async renewLease(): Promise<void> {
    await this.#lease?.renew();
  }

  /** Throws `overloaded` if the process is too busy to start a run. Answers and queued runs are not refused. */
  checkLoad(agent: string): void {
    const { maxRuns = Infinity, isOverloaded } = this.#options;
    if (this.running < maxRuns && !isOverloaded?.()) return;
    this.observe('refused', { agent });
    throw new RunRefusedError({ code: 'overloaded' });
  }

  /** Calls a method of the observer, if there is one. */
  readonly observe: Observe = (name, value) => {
    const observer = this.#options.observer as { [name: string]: ((value: unknown) => void) | undefined } | undefined;
    try {
      observer?.[name]?.(value);
    } catch (error) {
      this.onError(error);
    }
  };

  /** Reports a run of a dead process that was ended. A requested stop has no error. */
  #reportRecovered(run: RunRecord, end: End | undefined): void {
    const { agent } = run;
    this.observe('takenOver', { agent });
    this.observe('runEnded', { agent, result: end?.reason === 'aborted' ? 'aborted' : 'lost' });
    if (end?.reason === 'error') this.onRunError(run, end.error);
  }

  /** Registers an agent, so that this process can execute its queued runs. */
  register(definition: AgentDefinition): void {
    this.#agents.set(definition.name, definition);
  }

  /** Names of the agents whose runs can continue in another process. */
  get resumable(): string[] {
    return [...this.#agents.values()].filter(({ source }) => source.resume !== undefined).map(({ name }) => name);
  }

  /** Returns how a run that was taken over ends; undefined if this process continues it. */
  async #findEnd(owned: Ownership): Promise<End | undefined> {
    const { key, agent: name } = owned.run;
    const position = (await this.store.log.positions([key])).get(key);
    const { maxAttempts = 3 } = this.#options;
    return findTakeoverEnd(owned, { agent: this.#agents.get(name), position, maxAttempts });
  }

  /** Continues or ends a run that a new message has taken over, whichever agent the message is for. */
  async #resumeOrEnd(owned: Ownership): Promise<void> {
    const { registry, hints } = this.store;
    const end = await this.#findEnd(owned);
    if (!end) return this.execute(owned);
    const isUnknown = end.reason === 'error' && end.error.code === 'agent-gone';
    if (!isUnknown || !(await registry.hasPeers(this.process))) return this.recover(owned, end);
    // Another process may have the agent. A sweep ends the run if none takes it over within the grace period.
    await registry.release(owned.run.key, owned.epoch);
    hints.publish({ type: 'released', run: owned.run.key });
  }

  findAgent(name: string): AgentDefinition | undefined {
    return this.#agents.get(name);
  }

  /** Acquires the lease. Without it other processes would take over every run of this one. */
  open(): Promise<void> {
    if (this.isClosing) return Promise.reject(new RunRefusedError({ code: 'closing' }));
    this.#opened ??= this.#open().catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  async #open(): Promise<void> {
    const defaultMs = Math.min(5_000, this.store.registry.leaseMs / 3);
    const { heartbeatMs = defaultMs, sweepMs = defaultMs } = this.#options;
    const { registry } = this.store;
    const lease = new Lease({ registry, process: this.process, heartbeatMs, getLeaseMs: () => this.#getLeaseMs() });
    await lease.renew();
    if (this.isClosing) {
      // `close` no longer waits if the database was slow, so it may have released the lease before it was acquired.
      await registry.retire(this.process).catch(this.onError);
      throw new RunRefusedError({ code: 'closing' });
    }
    this.#lease = lease;
    // Released runs, and those of an embedded database, are taken over without waiting for the first sweep.
    this.track(this.recoverDeadRuns());
    this.#timers = [
      startAsyncInterval(
        () => heartbeatMs,
        () => lease.renew().catch(this.onError),
      ),
      // Jitter spreads the sweeps of several processes.
      startAsyncInterval(
        () => sweepMs * (0.8 + 0.4 * Math.random()),
        () => this.#sweep(lease).catch(this.onError),
      ),
      this.#sweepOnRelease(lease),
    ];
  }

  /** Sweeps shortly after another process has released runs. Returns the function that ends it. */
  #sweepOnRelease(lease: Lease): () => void {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const sweep = (): void => {
      timer = undefined;
      this.track(this.#sweep(lease));
    };
    const unsubscribe = this.store.hints.subscribe(({ type }) => {
      if (type === 'released' && !this.isClosing) timer ??= setTimeout(sweep, releaseDelayMs);
    });
    return () => {
      unsubscribe();
      clearTimeout(timer);
    };
  }

  /** An agent that may lose its runs at a takeover gets more time to renew the lease. */
  #getLeaseMs(): number {
    const { leaseMs, resumableLeaseMs = leaseMs } = this.store.registry;
    const isSure = [...this.#agents.values()].every(({ source }) => source.resume && !source.canResume);
    return isSure ? resumableLeaseMs : leaseMs;
  }

  /** Rejects if the database does not accept writes: the lease cannot be renewed, or a write was refused in the last seconds. */
  async checkWrites(): Promise<void> {
    await this.open();
    await this.renewLease();
    const refused = this.store.refusedWrite?.();
    if (refused) throw refused;
  }

  /** No takeovers and no new runs while shutting down: the process could not complete them. */
  async #sweep(lease: Lease): Promise<void> {
    if (this.isClosing) return;
    // Detects a pause or an outage, after which this process would take over its own runs and those of live processes.
    await lease.renew();
    if (!this.isClosing) await this.recoverDeadRuns();
    if (!this.isClosing) await this.#adoptOrphans().catch(this.onError);
  }

  /**
   * Calls the registry for a run. `call` must be repeatable, because a reply can be lost. `handle` executes or ends the run. Rejects
   * while closing; `close` waits for earlier calls, and hands over or stops their runs.
   */
  acquireRun<Result, Handled>(
    call: () => Promise<Result>,
    handle: (result: Result) => Handled,
  ): Promise<Awaited<Handled>> {
    if (this.isClosing) return Promise.reject(new RunRefusedError({ code: 'closing' }));
    const acquired = this.#calls.call(call, handle);
    // The caller handles the error.
    this.track(acquired.then(ignore, ignore));
    return acquired;
  }

  /** Starts a run, and executes or queues it. */
  startRun(store: Store, request: StartRequest, definition: AgentDefinition): Promise<StartResult> {
    return this.acquireRun(
      () => store.registry.start(store.scope, request),
      (started) => {
        if (started.type === 'started') this.execute(started, definition);
        if (started.type === 'queued') this.enqueue(started, request.busy === 'replace');
        return started;
      },
    );
  }

  async #adoptOrphans(): Promise<void> {
    for (const owned of await this.#orphans.find()) {
      if (!this.isClosing) await this.#adopt(owned);
    }
  }

  /** Executes a run that no process has begun. Ends any other, because the effects of its source are unknown. */
  async #adopt(owned: Ownership): Promise<void> {
    const { run, epoch, nextSeq } = owned;
    const isFresh = epoch === 1 && nextSeq === 1;
    const text = `This process owns run "${run.runId}" and did not execute it, because a reply of the store was lost.`;
    this.onError(new Error(`${text} It is ${isFresh ? 'executed' : 'ended'} now.`));
    if (isFresh) return this.execute(owned);
    if (epoch > 1 && !(await this.#findEnd(owned))) return this.execute(owned);
    const position = (await this.store.log.positions([run.key])).get(run.key);
    this.track(this.recover(owned, position?.stop ? toStopEnd(position) : abandoned));
  }

  /** Executes a run that this process owns, and then the run that waits behind it. */
  execute(owned: Ownership, definition?: AgentDefinition): void {
    const { run } = owned;
    if (this.#executions.has(run.key)) return;
    const agent = definition ?? this.#agents.get(run.agent);
    if (!agent) {
      const message = `No agent of this process is called "${run.agent}". Give all processes of a store the same agents.`;
      this.track(this.recover(owned, { reason: 'error', error: { message, code: 'no-agent' } }));
      return;
    }
    if (owned.epoch > 1) this.observe('takenOver', { agent: run.agent });
    const execution = new Execution(this, agent, owned);
    this.#executions.set(run.key, execution);
    if (this.#isStopping) this.#stopAtShutdown(execution);
    else if (this.#isHandingOver) execution.handOverWhenIdle();
    this.track(this.#handleEnd(execution, owned));
  }

  /** Waits for the end of a run, and starts its continuation or the next run of the thread. */
  async #handleEnd(execution: Execution, owned: Ownership): Promise<void> {
    const { run } = owned;
    let result: FinishResult;
    try {
      result = await execution.done;
      const ended = result.result === 'ok' ? (execution.result ?? 'error') : 'fenced';
      this.observe('runEnded', { agent: run.agent, result: ended });
    } catch (error) {
      this.onError(error);
      result = await this.#end(owned, execution.failure ?? { reason: 'error', error: toFault(error) });
    }
    this.#executions.delete(run.key);
    if (result.result !== 'ok') return;
    const next = result.continuation;
    const { definition } = execution;
    if (next) this.execute(next, next.run.agent === definition.name ? definition : undefined);
    else await this.promote(run.scope, run.threadId);
  }

  /** Ends a run that this process owns and does not execute, and starts the run that waits behind it. */
  async recover(owned: Ownership, end?: End): Promise<void> {
    const { key, scope, threadId } = owned.run;
    this.#ending.add(key);
    try {
      await this.#end(owned, end);
    } finally {
      this.#ending.delete(key);
    }
    await this.promote(scope, threadId);
  }

  async #end(owned: Ownership, end?: End): Promise<FinishResult> {
    const { store, onError } = this;
    const result = await endOwnedRun(owned, { store, onError, closing: this.#closing.signal, ...(end && { end }) });
    if (result.result !== 'ok') return result;
    const { agent } = owned.run;
    const ended: RunResult = end ? (end.reason === 'aborted' ? 'aborted' : 'error') : 'lost';
    if (ended === 'lost') this.observe('takenOver', { agent });
    this.observe('runEnded', { agent, result: ended });
    if (end?.reason === 'error') this.onRunError(owned.run, end.error);
    return result;
  }

  /** Starts the next queued run of the thread if no other run is live. */
  async promote(scope: Scope, threadId: string): Promise<void> {
    if (this.isClosing) return;
    const claim = generateId();
    try {
      await this.acquireRun(
        () => this.store.registry.promote(scope, threadId, this.process, claim),
        (owned) => owned && this.execute(owned),
      );
    } catch (error) {
      // The sweep finds the thread, or the run if it was promoted.
      this.onError(error);
    }
  }

  /** Handles a queued run. The end of the run before it starts it, unless that run is replaced, dead or already ended. */
  enqueue({ run, behind, takenOver }: Queued, isReplacing: boolean): void {
    if (takenOver) this.track(isReplacing ? this.recover(takenOver, replaced) : this.#resumeOrEnd(takenOver));
    else if (isReplacing) this.track(this.#replace(run));
    else if (behind.state !== 'running') this.track(this.promote(run.scope, run.threadId));
  }

  /** Makes way for a run: cancels queued runs, stops the live run, and ends it if it does not stop in time. */
  async #replace(run: RunRecord): Promise<void> {
    const { replaceSilenceMs = 2_000 } = this.#options;
    const { registry } = this.store;
    const { scope, threadId } = run;
    const claim = generateId();
    let isFirst = true;
    while (!this.isClosing) {
      try {
        if (isFirst) await this.#cancelQueuedBefore(run);
        isFirst = false;
        const waiting = await registry.getRun(scope, run.key);
        if (waiting?.state !== 'queued') return;
        const live = await registry.liveRun(scope, { threadId });
        if (!live) return await this.promote(scope, threadId);
        // The start has already stopped the first live run; another one may have started since.
        await registry.stop(scope, live.key, 'replaced');
        this.stop(live.key, { by: 'user', message: 'replaced' });
        const isFenced = await this.acquireRun(
          () => registry.fence(live.key, this.process, replaceSilenceMs, claim),
          (owned) => owned && this.recover(owned, replaced).then(() => true),
        );
        if (isFenced) return;
      } catch (error) {
        this.onError(error);
      }
      await pause(replaceSilenceMs / 4, this.#closing.signal).catch(() => undefined);
    }
  }

  /** Continuations are not cancelled, because a user has answered for them. */
  async #cancelQueuedBefore({ scope, threadId, key }: RunRecord): Promise<void> {
    const runs = await this.store.registry.listRuns(scope, { threadId });
    const earlier = runs.slice(
      0,
      Math.max(
        0,
        runs.findIndex((run) => run.key === key),
      ),
    );
    const cancelled = earlier.filter(({ state, resumes }) => state === 'queued' && resumes === undefined);
    await Promise.all(cancelled.map((run) => this.store.registry.stop(scope, run.key, 'replaced')));
  }

  /** Whether this process owns the run only to end it, because the process that executed it is dead. */
  isRecovering({ key, process }: RunRecord): boolean {
    return process === this.process && !this.#executions.has(key);
  }

  /** Takes over and ends the runs of dead processes. */
  async recoverDeadRuns(): Promise<void> {
    // Not `acquireRun`: `close` waits for the sweeper itself, with a limit.
    await this.#calls.call(() => this.#sweeper.sweep(), ignore);
  }

  /** Stops a run of this process without the delay of the store. */
  stop(run: RunKey, reason: StopReason): void {
    this.#executions.get(run)?.stop(reason);
  }

  async #stopUnread(scope: Scope, run: RunKey): Promise<void> {
    const message = 'disconnected';
    await this.store.registry.stop(scope, run, message);
    this.stop(run, { by: 'user', message });
  }

  /** Starts the lease and the sweeps, which continue or end runs of dead processes, without waiting for them. */
  openForReading(): void {
    if (!this.isClosing) this.track(this.open());
  }

  follow(
    { scope, key: run, agent }: Pick<RunRecord, 'scope' | 'key' | 'agent'>,
    after?: LogPosition,
  ): ReadableStream<Followed> {
    this.openForReading();
    const { store, watcher, relay: local, maxOutageMs } = this;
    const { stopOnDisconnect } = this.findAgent(agent) ?? {};
    const onOpen = (abort: (reason: Error) => void): (() => void) => {
      const endStream = this.#streams.add(abort);
      const removeReader = stopOnDisconnect && this.#unread.addReader({ scope, run, ...stopOnDisconnect });
      return () => {
        endStream();
        removeReader?.();
      };
    };
    const onDelivered = (lagMs: number): void => this.observe('delivered', { lagMs });
    return followRun({ store, watcher, scope, run, local, onOpen, onDelivered, maxOutageMs, ...(after && { after }) });
  }

  /** Adds work that `close` waits for. */
  track(work: Promise<unknown>): void {
    const tracked = work.catch(this.onError).finally(() => this.#work.delete(tracked));
    this.#work.add(tracked);
  }

  /**
   * Hands runs over that another live process can continue, as soon as no tool runs. Waits up to `drainMs` for the others to end.
   * Then releases those that a later process can continue, stops the rest, fails open streams, and releases the lease. A second call
   * can shorten the drain timeout, never extend it.
   */
  close({ drainMs = 0, handOverLast = false }: CloseOptions = {}): Promise<void> {
    this.#drainDeadline.shorten(drainMs);
    this.#closed ??= this.#close(handOverLast);
    return this.#closed;
  }

  async #close(handOverLast: boolean): Promise<void> {
    this.#closing.abort();
    this.#unread.close();
    // Each statement of a sweep has its own time limit; their sum is minutes if the database does not answer.
    await waitAtMost(closeGraceMs, this.#sweeper.stop());
    await waitAtMost(closeGraceMs, this.#opened?.catch(ignore) ?? Promise.resolve());
    this.#isHandingOver = !handOverLast && (await this.#canHandOver());
    for (const execution of this.#executions.values()) {
      if (this.#isHandingOver) execution.handOverWhenIdle();
    }
    await this.#drainDeadline.wait(this.#waitForWork());
    this.#isStopping = true;
    // A process that starts later continues the runs that are left, if the store is durable.
    this.#isHandingOver ||= (this.store.registry.isDurable ?? false) || (await this.#canHandOver());
    for (const execution of this.#executions.values()) this.#stopAtShutdown(execution);
    await waitAtMost(closeGraceMs, this.#waitForWork());
    for (const stop of this.#timers) stop();
    await this.flusher.close();
    // Readers of ended runs get the end.
    await waitAtMost(endDeliveryMs, this.#streams.waitUntilEmpty());
    this.#streams.abort();
    this.watcher.close();
    if (this.#opened) await this.store.registry.retire(this.process).catch(this.onError);
  }

  #stopAtShutdown(execution: Execution): void {
    if (!this.#isHandingOver || !execution.handOver()) execution.stop(shutdown);
  }

  /** Whether another live process can continue the runs of this one. */
  async #canHandOver(): Promise<boolean> {
    if (this.#executions.size === 0) return false;
    let hasPeers = false;
    const check = async (): Promise<void> => void (hasPeers = await this.store.registry.hasPeers(this.process));
    await waitAtMost(closeGraceMs, check().catch(this.onError));
    return hasPeers;
  }

  async #waitForWork(): Promise<void> {
    while (this.#work.size > 0) await Promise.all(this.#work);
  }
}

const ignore = (): void => undefined;

async function waitAtMost(ms: number, work: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => void (timer = setTimeout(resolve, ms)));
  await Promise.race([work, late]);
  clearTimeout(timer);
}

const hosts = new WeakMap<object, RunHost>();

/** Creates a host for a store. Pass it to the agents that share it: `new Agent({ …, store, host })`. */
export function createRunHost(store: Store | MessageStore, options?: RunHostOptions): RunHost {
  return new RunHost(toStore(store), options);
}

/** Returns the default host that all agents of a store share, in all scopes. */
export function getSharedRunHost(store: Store): RunHost {
  let host = hosts.get(store.registry);
  if (!host || host.isClosing) hosts.set(store.registry, (host = new RunHost(store)));
  return host;
}
