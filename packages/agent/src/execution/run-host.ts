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
import type { FinishResult, LogPosition, Ownership, Queued, RunKey, RunPosition, Scope } from '@intertie/core/store';
import type { AgentDefinition } from './agent-definition.ts';
import { endOwnedRun } from './end-owned-run.ts';
import { every } from './async-interval.ts';
import { Execution } from './execution.ts';
import { HostedStreams } from './hosted-streams.ts';
import { Lease } from './lease.ts';
import { toStore, type MessageStore } from '../history/message-store.ts';
import { OrphanRuns } from './orphan-runs.ts';
import { OwnershipCalls } from './ownership-calls.ts';
import { Patience } from './deadline.ts';
import type { Observe, RunObserver, RunResult } from '../telemetry/run-observer.ts';
import { RunRelay } from './run-relay.ts';

export type RunHostOptions = {
  /**
   * Name of this process, unique among all processes that share the store: a process ends runs that are assigned to its name and that it does
   * not execute. Default: a new id.
   */
  process?: string;
  /** The time from one flush to the next. 40 ms unless given. */
  tickMs?: number;
  /** How often the lease is renewed. Default: 5 s. The lease itself is an option of the store. */
  heartbeatMs?: number;
  /** How often runs of dead processes are looked for. 5 s unless given. */
  sweepMs?: number;
  /** How long a run that another replaces may take to end, before that is done for it. 2 s unless given. */
  replaceSilenceMs?: number;
  /** How long the log of a run is kept after its end. 10 minutes unless given. */
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
  /** Is told of what failed and will be tried again. */
  onError?: (error: unknown) => void;
  /** Called when a run ends with an error, with the error as it is stored. Clients see a text without its details. */
  onRunError?: (run: RunRecord, error: Fault) => void;
};

export type CloseOptions = {
  /** How long the runs under way may take to end by themselves. Then they are stopped. Not at all unless given. */
  drainMs?: number;
};

/** How long a sweep, and then the ends of stopped runs, may take before the process gives them up to others. */
const closeGraceMs = 5_000;
const shutdown: StopReason = { by: 'system', message: 'shutdown' };
const abandoned: End = {
  reason: 'error',
  error: {
    message:
      'The connection to the database broke while the run was assigned to a process. Its output so far is stored.',
    code: 'lost',
  },
};
const replaced: End = { reason: 'aborted', by: 'system', message: 'replaced' };
/** How long readers may take for the ends of runs. */
const lastWordsMs = 250;

/**
 * What a process has around a store: the one flusher, watcher and sweeper of all its agents, and its lease. Agents on the
 * same store share one without being told; `createRunHost` is for those who want to give it options, or close it themselves.
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
  #work = new Set<Promise<unknown>>();
  #lease: Lease | undefined;
  #opened: Promise<void> | undefined;
  #closed: Promise<void> | undefined;
  #timers: Array<() => void> = [];
  #leaving = new AbortController();
  #patience = new Patience();
  /** What begins now is ended at once. */
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
    const onFlush = (flush: FlushReport): void => this.observe('flushed', flush);
    this.flusher = createRunFlusher({ log: store.log, onError, onFlush, ...(tickMs !== undefined && { tickMs }) });
    this.watcher = createRunWatcher({ log: store.log, hints: store.hints, process, local: this.flusher, onError });
    this.relay = new RunRelay({ log: store.log, watcher: this.watcher, local: this.flusher, onError });
    this.#sweeper = createSweeper({
      store,
      process,
      onError,
      startRun: (owned) => this.execute(owned),
      onRecovered: (run) => this.#reportEnd(run.agent, 'lost'),
      ...(logRetentionMs !== undefined && { logRetentionMs }),
    });
  }

  /** Whether it takes no new runs. */
  get isClosing(): boolean {
    return this.#closed !== undefined;
  }

  /** Number of runs that this process executes. */
  get running(): number {
    return this.#executions.size;
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

  #reportEnd(agent: string, result: RunResult): void {
    if (result === 'lost') this.observe('takenOver', { agent });
    this.observe('runEnded', { agent, result });
  }

  /** Makes the agent known, so that runs that were queued for it can be started by whoever finds them. */
  register(definition: AgentDefinition): void {
    this.#agents.set(definition.name, definition);
  }

  agent(name: string): AgentDefinition | undefined {
    return this.#agents.get(name);
  }

  /** Takes up the lease, without which every run of this process would count as a dead one's. */
  open(): Promise<void> {
    if (this.isClosing) return Promise.reject(new RunRefusedError({ code: 'closing' }));
    this.#opened ??= this.#open().catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  async #open(): Promise<void> {
    const { heartbeatMs = 5_000, sweepMs = 5_000 } = this.#options;
    const lease = new Lease({ registry: this.store.registry, process: this.process, heartbeatMs });
    await lease.renew();
    this.#lease = lease;
    // What died before this process came has waited long enough.
    this.track(this.recovered());
    this.#timers = [
      every(
        () => heartbeatMs,
        () => lease.renew().catch(this.onError),
      ),
      // Not in step with other processes; and after a beat, so that one that slept does not take over its own runs.
      every(
        () => sweepMs * (0.8 + 0.4 * Math.random()),
        () => lease.renew().then(() => this.#sweep(lease), this.onError),
      ),
    ];
  }

  /** Rejects if the database does not accept writes: the lease cannot be renewed, or a write was refused in the last seconds. */
  async checkWrites(): Promise<void> {
    await this.open();
    await this.#lease?.renew();
    const refused = this.store.refusedWrite?.();
    if (refused) throw refused;
  }

  /** No takeovers and no new runs while shutting down: the process could not complete them. */
  async #sweep(lease: Lease): Promise<void> {
    if (!this.isClosing && lease.isTelling) await this.recovered();
    if (!this.isClosing) await this.#adoptOrphans().catch(this.onError);
  }

  /**
   * Calls the registry for a run. The call is repeated if its reply is lost, so it has to be the same each time. `take` executes or
   * ends the run in the reply.
   */
  own<Result, Taken>(call: () => Promise<Result>, take: (result: Result) => Taken): Promise<Awaited<Taken>> {
    return this.#calls.make(call, take);
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
    const position = (await this.store.log.positions([run.key])).get(run.key);
    this.track(this.recover(owned, position?.stop ? endByStop(position) : abandoned));
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
    const execution = new Execution(this, agent, owned);
    this.#executions.set(run.key, execution);
    if (this.#isStopping) execution.stop(shutdown);
    this.track(this.#accompany(execution, owned));
  }

  /** To the end of a run, and to the beginning of what waits for it. */
  async #accompany(execution: Execution, owned: Ownership): Promise<void> {
    const { run } = owned;
    let result: FinishResult;
    try {
      result = await execution.done;
      this.#reportEnd(run.agent, result.result === 'ok' ? (execution.outcome ?? 'error') : 'fenced');
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
    const result = await endOwnedRun(owned, { store, onError, leaving: this.#leaving.signal, ...(end && { end }) });
    const ended: RunResult = end ? (end.reason === 'aborted' ? 'aborted' : 'error') : 'lost';
    if (result.result !== 'ok') return result;
    this.#reportEnd(owned.run.agent, ended);
    if (end?.reason === 'error') this.onRunError(owned.run, end.error);
    return result;
  }

  /** Starts the thread's next run, if there is one and nothing else runs. */
  async promote(scope: Scope, threadId: string): Promise<void> {
    if (this.isClosing) return;
    const claim = generateId();
    try {
      await this.own(
        () => this.store.registry.promote(scope, threadId, this.process, claim),
        (owned) => owned && this.execute(owned),
      );
    } catch (error) {
      // The sweep finds the thread, or the run if it was promoted.
      this.onError(error);
    }
  }

  /** A run waits for its turn. The run before it starts it; only one that does not end is helped. */
  enqueue({ run, behind, takenOver }: Queued, isReplacing: boolean): void {
    if (takenOver) this.track(this.recover(takenOver));
    else if (isReplacing) this.track(this.#replace(run));
    else if (behind.state !== 'running') this.track(this.promote(run.scope, run.threadId));
  }

  /** Whoever is before it gives way: what only waits never begins, what runs is stopped, what does not stop is ended. */
  async #replace(run: RunRecord): Promise<void> {
    const { replaceSilenceMs = 2_000 } = this.#options;
    const { registry } = this.store;
    const { scope, threadId } = run;
    const claim = generateId();
    let isFirst = true;
    while (!this.isClosing) {
      try {
        if (isFirst) await this.#skipQueuedBefore(run);
        isFirst = false;
        const waiting = await registry.getRun(scope, run.key);
        if (waiting?.state !== 'queued') return;
        const live = await registry.liveRun(scope, { threadId });
        if (!live) return await this.promote(scope, threadId);
        // The first one has been asked already; another may have begun since.
        await registry.stop(scope, live.key, 'replaced');
        this.stop(live.key, { by: 'user', message: 'replaced' });
        const isFenced = await this.own(
          () => registry.fence(live.key, this.process, replaceSilenceMs, claim),
          (owned) => owned && this.recover(owned, replaced).then(() => true),
        );
        if (isFenced) return;
      } catch (error) {
        this.onError(error);
      }
      await pause(replaceSilenceMs / 4, this.#leaving.signal).catch(() => undefined);
    }
  }

  /** Continuations stay: somebody has answered for them. */
  async #skipQueuedBefore({ scope, threadId, key }: RunRecord): Promise<void> {
    const runs = await this.store.registry.listRuns(scope, { threadId });
    const earlier = runs.slice(
      0,
      Math.max(
        0,
        runs.findIndex((run) => run.key === key),
      ),
    );
    const skipped = earlier.filter(({ state, resumes }) => state === 'queued' && resumes === undefined);
    await Promise.all(skipped.map((run) => this.store.registry.stop(scope, run.key, 'replaced')));
  }

  /** Whether the run is this process's to end, and not to run: somebody else has died over it. */
  isRecovering({ key, process }: RunRecord): boolean {
    return process === this.process && !this.#executions.has(key);
  }

  /** Resolves when the runs that this process has taken over are ended. */
  async recovered(): Promise<void> {
    await this.own(
      () => this.#sweeper.sweep(),
      () => undefined,
    );
  }

  /** Tells a run of this process at once what others learn from the store. */
  stop(run: RunKey, reason: StopReason): void {
    this.#executions.get(run)?.stop(reason);
  }

  follow(scope: Scope, run: RunKey, after?: LogPosition): ReadableStream<Followed> {
    // Whoever reads the run of a dead process waits for somebody to end it.
    if (!this.isClosing) this.track(this.open());
    const { store, watcher, relay: local, maxOutageMs: patienceMs } = this;
    const onOpen = (cut: (reason: Error) => void): (() => void) => this.#streams.enter(cut);
    const onDelivered = (lagMs: number): void => this.observe('delivered', { lagMs });
    return followRun({ store, watcher, scope, run, local, onOpen, onDelivered, patienceMs, ...(after && { after }) });
  }

  /** Something that is to be done before the process goes. */
  track(work: Promise<unknown>): void {
    const tracked = work.catch(this.onError).finally(() => this.#work.delete(tracked));
    this.#work.add(tracked);
  }

  /**
   * Lets runs end, stops those that do not, and gives up the lease. Readers are told that they were cut off. Whoever asks again
   * with less patience is the one that counts.
   */
  close({ drainMs = 0 }: CloseOptions = {}): Promise<void> {
    this.#patience.limit(drainMs);
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#leaving.abort();
    // Each statement of a pass has a time limit of its own; together they take minutes when the database does not answer.
    await within(closeGraceMs, this.#sweeper.stop());
    await this.#patience.wait(this.#settled());
    this.#isStopping = true;
    for (const execution of this.#executions.values()) execution.stop(shutdown);
    await within(closeGraceMs, this.#settled());
    for (const stop of this.#timers) stop();
    await this.flusher.close();
    // Those who read what has ended here are given its end.
    await within(lastWordsMs, this.#streams.ended());
    this.#streams.close();
    this.watcher.close();
    if (this.#opened) await this.store.registry.retire(this.process).catch(this.onError);
  }

  async #settled(): Promise<void> {
    while (this.#work.size > 0) await Promise.all(this.#work);
  }
}

function endByStop({ stopReason }: RunPosition): End {
  return { reason: 'aborted', by: 'user', ...(stopReason !== undefined && { message: stopReason }) };
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => void (timer = setTimeout(resolve, ms)));
  await Promise.race([work, late]);
  clearTimeout(timer);
}

const hosts = new WeakMap<object, RunHost>();

/** A host of its own for a store. Give it to the agents that are to share it: `new Agent({ …, store, host })`. */
export function createRunHost(store: Store | MessageStore, options?: RunHostOptions): RunHost {
  return new RunHost(toStore(store), options);
}

/** The host that all agents of a store share, whatever their scopes. */
export function runHostOf(store: Store): RunHost {
  let host = hosts.get(store.registry);
  if (!host || host.isClosing) hosts.set(store.registry, (host = new RunHost(store)));
  return host;
}
