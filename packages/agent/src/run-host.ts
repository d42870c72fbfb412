import {
  createRunFlusher,
  createRunWatcher,
  createSweeper,
  followRun,
  generateId,
  pause,
  RunRefusedError,
  toFault,
  type End,
  type FinishResult,
  type Followed,
  type LogPosition,
  type Ownership,
  type Queued,
  type RunFlusher,
  type RunKey,
  type RunRecord,
  type RunWatcher,
  type Scope,
  type StopReason,
  type Store,
  type Sweeper,
} from '@intertie/core';
import type { AgentDefinition } from './agent-definition.ts';
import { endOwnedRun } from './end-owned-run.ts';
import { every } from './every.ts';
import { Execution } from './execution.ts';
import { HostedStreams } from './hosted-streams.ts';
import { Lease } from './lease.ts';
import { toStore, type MessageStore } from './message-store.ts';
import { Patience } from './patience.ts';
import { RunRelay } from './run-relay.ts';

export type RunHostOptions = {
  /** The name of this process among those that share the store. Its own id unless given. */
  process?: string;
  /** The time from one flush to the next. 40 ms unless given. */
  tickMs?: number;
  /** How often the lease is renewed. 5 s unless given; the store keeps it for 15. */
  heartbeatMs?: number;
  /** How often runs of dead processes are looked for. 5 s unless given. */
  sweepMs?: number;
  /** How long a run that another replaces may take to end, before that is done for it. 2 s unless given. */
  replaceSilenceMs?: number;
  /** How long the log of a run is kept after its end. 10 minutes unless given. */
  logRetentionMs?: number;
  /** Is told of what failed and will be tried again. */
  onError?: (error: unknown) => void;
};

export type CloseOptions = {
  /** How long the runs under way may take to end by themselves. Then they are stopped. Not at all unless given. */
  drainMs?: number;
};

/** How long the ends of stopped runs may take, before the process gives them up to others. */
const closeGraceMs = 5_000;
const shutdown: StopReason = { by: 'system', message: 'shutdown' };
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
  readonly onError: (error: unknown) => void;
  #options: RunHostOptions;
  #sweeper: Sweeper;
  #streams = new HostedStreams();
  #agents = new Map<string, AgentDefinition>();
  #executions = new Map<RunKey, Execution>();
  #work = new Set<Promise<unknown>>();
  #opened: Promise<void> | undefined;
  #closed: Promise<void> | undefined;
  #timers: Array<() => void> = [];
  #leaving = new AbortController();
  #patience = new Patience();
  /** What begins now is ended at once. */
  #isStopping = false;

  constructor(store: Store, options: RunHostOptions = {}) {
    const { tickMs, logRetentionMs, onError = () => undefined } = options;
    this.store = store;
    this.process = options.process ?? generateId();
    this.onError = onError;
    this.#options = options;
    const { process } = this;
    this.flusher = createRunFlusher({ log: store.log, onError, ...(tickMs !== undefined && { tickMs }) });
    this.watcher = createRunWatcher({ log: store.log, hints: store.hints, process, local: this.flusher, onError });
    this.relay = new RunRelay({ log: store.log, watcher: this.watcher, local: this.flusher, onError });
    this.#sweeper = createSweeper({
      store,
      process,
      onError,
      startRun: (owned) => this.execute(owned),
      ...(logRetentionMs !== undefined && { logRetentionMs }),
    });
  }

  /** Whether it takes no new runs. */
  get isClosing(): boolean {
    return this.#closed !== undefined;
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
    // What died before this process came has waited long enough.
    this.track(this.#sweeper.sweep());
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

  /** Who is leaving takes over nothing and starts nothing: it could not see it through. */
  async #sweep(lease: Lease): Promise<void> {
    if (!this.isClosing && lease.isTelling) await this.#sweeper.sweep();
  }

  /** Runs what this process owns, to its end, and then what waits behind it. */
  execute(owned: Ownership, definition?: AgentDefinition): void {
    const { run } = owned;
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
    } catch (error) {
      this.onError(error);
      result = await this.#end(owned, { reason: 'error', error: toFault(error) });
    }
    this.#executions.delete(run.key);
    if (result.result !== 'ok') return;
    const next = result.continuation;
    const { definition } = execution;
    if (next) this.execute(next, next.run.agent === definition.name ? definition : undefined);
    else await this.promote(run.scope, run.threadId);
  }

  /** Ends a run that this process owns and does not run, and goes on with what waits behind it. */
  async recover(owned: Ownership, end?: End): Promise<void> {
    const { scope, threadId } = owned.run;
    await this.#end(owned, end);
    await this.promote(scope, threadId);
  }

  #end(owned: Ownership, end?: End): Promise<FinishResult> {
    const { store, onError } = this;
    return endOwnedRun(owned, { store, onError, leaving: this.#leaving.signal, ...(end && { end }) });
  }

  /** Starts the thread's next run, if there is one and nothing else runs. */
  async promote(scope: Scope, threadId: string): Promise<void> {
    if (this.isClosing) return;
    try {
      const owned = await this.store.registry.promote(scope, threadId, this.process);
      if (owned) this.execute(owned);
    } catch (error) {
      // The sweeper finds the thread again.
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
    let isFirst = true;
    while (!this.isClosing) {
      /* oxlint-disable no-await-in-loop -- until all of them have given way */
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
        const owned = await registry.fence(live.key, this.process, replaceSilenceMs);
        if (owned) return await this.recover(owned, { reason: 'aborted', by: 'system', message: 'replaced' });
      } catch (error) {
        this.onError(error);
      }
      await pause(replaceSilenceMs / 4, this.#leaving.signal).catch(() => undefined);
      /* oxlint-enable no-await-in-loop */
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

  /** Resolves when what this process has taken over is ended. */
  async recovered(): Promise<void> {
    await this.#sweeper.sweep();
  }

  /** Tells a run of this process at once what others learn from the store. */
  stop(run: RunKey, reason: StopReason): void {
    this.#executions.get(run)?.stop(reason);
  }

  follow(scope: Scope, run: RunKey, after?: LogPosition): ReadableStream<Followed> {
    // Whoever reads the run of a dead process waits for somebody to end it.
    if (!this.isClosing) this.track(this.open());
    const { store, watcher, relay: local } = this;
    const onOpen = (cut: (reason: Error) => void): (() => void) => this.#streams.enter(cut);
    return followRun({ store, watcher, scope, run, local, onOpen, ...(after && { after }) });
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
    await this.#sweeper.stop();
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
    // oxlint-disable-next-line no-await-in-loop -- the end of one run may be the beginning of another
    while (this.#work.size > 0) await Promise.all(this.#work);
  }
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
