import type { End } from '../codec/codec.ts';
import type { Store } from '../store/store.ts';
import { recoverRun } from './recover-run.ts';
import type { Ownership, RunRecord } from '../store/registry.ts';
import type { RunKey } from '../store/run-log.ts';
import type { Scope } from '../store/scope.ts';
import { generateId } from '../json/uuid-v7.ts';

export type SweeperOptions = {
  store: Store;
  /** This process. It owns the runs that it takes over until it has ended them. */
  process: string;
  /** Executes a queued run that no process has started. Without it, such runs are left to other processes. */
  startRun?: (owned: Ownership) => void;
  /**
   * Decides about a run that was taken over: true if this process continues it, else how it ends. Without it, all end as `lost`.
   */
  resumeRun?: (owned: Ownership) => Promise<true | End>;
  /** Agents that this process knows; see `TakeOverOptions`. Default: all agents. */
  agents?: () => readonly string[];
  /** Whether an expired lease proves that its process is dead; else only released runs are taken over. Default: always. */
  trustsLeases?: () => boolean;
  /** Called after a run of a dead process was ended. `end` is what `resumeRun` returned. */
  onRecovered?: (run: RunRecord, end?: End) => void;
  /** Retention time of a log after the end of its run. Default: 10 minutes. */
  logRetentionMs?: number;
  /** Retention time of an unreferenced blob. Default: one day. Blobs are collected once an hour. */
  blobRetentionMs?: number;
  /** Maximum number of items of each kind in one round. Default: 50. A pass continues with more rounds, up to a maximum. */
  limit?: number;
  /** Time between passes, varied by a fifth so that processes do not sweep in step. Default: 5 s. */
  intervalMs?: number;
  /** Returns a number from 0 to 1, exclusive. */
  random?: () => number;
  /** Clock, in milliseconds. */
  now?: () => number;
  /** Called for every failure; the next pass tries again. */
  onError?: (error: unknown) => void;
};

/** Number of items that one pass has handled. */
export type SweepResult = {
  recovered: number;
  promoted: number;
  expired: number;
  dropped: number;
  deleted: number;
  collected: number;
};

export interface Sweeper {
  /** Runs one pass. Never rejects. */
  sweep(): Promise<SweepResult>;
  /** Runs passes at intervals until `stop`. */
  start(): void;
  /** Resolves when no pass is under way. */
  stop(): Promise<void>;
}

const minuteMs = 60 * 1000;
const hourMs = 60 * minuteMs;
/** Maximum number of rounds for one kind in one pass. */
const maxRounds = 20;

/**
 * Cleans up after dead processes: ends their runs, starts their queued runs, expires unanswered decisions, and drops old logs and
 * unreferenced blobs. Every process has a sweeper, and each item is handled by one of them.
 */
export function createSweeper(options: SweeperOptions): Sweeper {
  const { store, process, startRun, resumeRun, agents, trustsLeases, onError, onRecovered } = options;
  const {
    limit = 50,
    intervalMs = 5_000,
    logRetentionMs = 10 * minuteMs,
    blobRetentionMs = 24 * hourMs,
    random = Math.random,
    now = Date.now,
  } = options;
  const { registry, log, blobs } = store;
  /** Runs taken over and not ended yet. No other process can end them while this one lives. */
  const unfinished = new Map<RunKey, Ownership>();
  /** Claim of the next takeover. A call that failed is repeated with the same one, because it may have been committed. */
  let claim = generateId();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let collectedAt = -Infinity;
  let isStarted = false;
  let pass: Promise<SweepResult> | undefined;

  const attempt = async (work: () => Promise<number>): Promise<number> => {
    try {
      return await work();
    } catch (error) {
      onError?.(error);
      return 0;
    }
  };

  /** Repeats full rounds. One batch per pass would limit the number of runs that a process can have in a day. */
  const inRounds = async (work: () => Promise<number>): Promise<number> => {
    let total = 0;
    for (let round = 0; round < maxRounds; round += 1) {
      const count = await work();
      total += count;
      if (count < limit) break;
    }
    return total;
  };

  const takeOver = async (): Promise<number> => {
    const onlyReleased = trustsLeases?.() === false;
    const taken = await registry.takeOver(process, { limit, claim, onlyReleased, ...(agents && { agents: agents() }) });
    claim = generateId();
    // Without a lease, this process takes over its own runs again, which must not count as new or the rounds never end.
    const isNew = taken.filter(({ run }) => !unfinished.has(run.key)).length;
    for (const owned of taken) unfinished.set(owned.run.key, owned);
    return isNew;
  };

  const recover = async (): Promise<number> => {
    await attempt(() => inRounds(takeOver));
    let recovered = 0;
    for (const owned of unfinished.values()) {
      recovered += await attempt(async () => {
        const end = await resumeRun?.(owned);
        if (end === true) {
          unfinished.delete(owned.run.key);
          return 0;
        }
        const { result } = await recoverRun(store, owned, end);
        unfinished.delete(owned.run.key);
        if (result !== 'ok') return 0;
        onRecovered?.(owned.run, end);
        return 1;
      });
    }
    return recovered;
  };

  /** Tries twice, because no later pass finds the thread once it has a live run. */
  const promoteThread = async (scope: Scope, threadId: string): Promise<Ownership | null> => {
    const key = generateId();
    const call = (): Promise<Ownership | null> => registry.promote(scope, threadId, process, key);
    try {
      return await call();
    } catch (error) {
      onError?.(error);
      return call();
    }
  };

  const promote = async (): Promise<number> => {
    if (!startRun) return 0;
    let promoted = 0;
    for (const { scope, threadId } of await registry.listStranded(limit)) {
      const owned = await promoteThread(scope, threadId);
      if (!owned) continue;
      promoted += 1;
      startRun(owned);
    }
    return promoted;
  };

  const drop = async (): Promise<number> => {
    const runs = await registry.listPrunable(logRetentionMs, limit);
    if (runs.length > 0) await log.drop(runs);
    return runs.length;
  };

  const collect = async (): Promise<number> => {
    if (now() - collectedAt < hourMs) return 0;
    const collected = await blobs.collect(blobRetentionMs, limit);
    // After a full batch, the next pass continues.
    if (collected < limit) collectedAt = now();
    return collected;
  };

  const sweepOnce = async (): Promise<SweepResult> => ({
    recovered: await recover(),
    promoted: await attempt(promote),
    expired: await attempt(() => inRounds(() => registry.expire(limit))),
    dropped: await attempt(() => inRounds(drop)),
    deleted: await attempt(() => inRounds(async () => (await registry.deleteHidden(logRetentionMs, limit)).count)),
    collected: await attempt(collect),
  });

  const sweep = (): Promise<SweepResult> => {
    // Two concurrent passes would end the same runs.
    pass ??= sweepOnce().finally(() => void (pass = undefined));
    return pass;
  };

  const schedule = (): void => {
    if (!isStarted) return;
    timer = setTimeout(() => void sweep().then(schedule), intervalMs * (0.8 + 0.4 * random()));
  };

  return {
    sweep,
    start() {
      if (isStarted) return;
      isStarted = true;
      schedule();
    },
    async stop() {
      isStarted = false;
      clearTimeout(timer);
      await pass;
    },
  };
}
