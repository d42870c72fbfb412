import type { Store } from '../store/store.ts';
import { recoverRun } from './recover-run.ts';
import type { Ownership, RunRecord } from '../store/registry.ts';
import type { RunKey } from '../store/run-log.ts';
import type { Scope } from '../store/scope.ts';
import { generateId } from '../json/uuid-v7.ts';

export type SweeperOptions = {
  store: Store;
  /** This process, which owns what it takes over until it has ended it. */
  process: string;
  /** Runs what was queued and nobody has started. Without it such runs are left to other processes. */
  startRun?: (owned: Ownership) => void;
  /** Called after a run of a dead process was ended. */
  onRecovered?: (run: RunRecord) => void;
  /** How long the log of a run is kept after its end. 10 minutes unless given. */
  logRetentionMs?: number;
  /** How long a blob is kept that no message refers to. A day unless given; they are looked for once an hour. */
  blobRetentionMs?: number;
  /** How much is done of each kind at once. 50 unless given. Where there was so much, the same pass goes on, for a while. */
  limit?: number;
  /** The time from one pass to the next, give or take a fifth, so that processes do not sweep in step. 5 s unless given. */
  everyMs?: number;
  /** A number from 0 up to 1. */
  random?: () => number;
  /** The clock, in milliseconds. */
  now?: () => number;
  /** Is told of whatever fails; the next pass tries again. */
  onError?: (error: unknown) => void;
};

/** What one pass has done. */
export type SweepResult = { recovered: number; promoted: number; expired: number; dropped: number; collected: number };

export interface Sweeper {
  /** One pass. It never throws. */
  sweep(): Promise<SweepResult>;
  /** A pass now and then, until it is stopped. */
  start(): void;
  /** Resolves when no pass is under way. */
  stop(): Promise<void>;
}

const minuteMs = 60 * 1000;
const hourMs = 60 * minuteMs;
/** How often one pass goes on with a kind of which there is more. */
const maxRounds = 20;

/**
 * Cleans up behind processes that died: their runs are ended, what they left in a queue is started, what was never answered
 * expires, and old logs and blobs that nobody refers to are dropped. Every process has one; what one of them does the others leave alone.
 */
export function createSweeper(options: SweeperOptions): Sweeper {
  const { store, process, startRun, limit = 50, everyMs = 5_000, onError, onRecovered } = options;
  const {
    logRetentionMs = 10 * minuteMs,
    blobRetentionMs = 24 * hourMs,
    random = Math.random,
    now = Date.now,
  } = options;
  const { registry, log, blobs } = store;
  /** Taken over and not yet ended: as long as this process lives, nobody else will. */
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

  /** One batch in a pass would be a ceiling on how many runs a process can have in a day. */
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
    const taken = await registry.takeOver(process, { limit, claim });
    claim = generateId();
    // Without a lease of its own this process takes its own runs again, and would go round in circles.
    const isNew = taken.filter(({ run }) => !unfinished.has(run.key)).length;
    for (const owned of taken) unfinished.set(owned.run.key, owned);
    return isNew;
  };

  const recover = async (): Promise<number> => {
    await attempt(() => inRounds(takeOver));
    let recovered = 0;
    for (const owned of unfinished.values()) {
      recovered += await attempt(async () => {
        const { result } = await recoverRun(store, owned);
        unfinished.delete(owned.run.key);
        if (result !== 'ok') return 0;
        onRecovered?.(owned.run);
        return 1;
      });
    }
    return recovered;
  };

  /** Tries twice: once the thread has a live run, no later pass finds it. */
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
    // Where there was more than one pass may take, the next one goes on.
    if (collected < limit) collectedAt = now();
    return collected;
  };

  const sweepOnce = async (): Promise<SweepResult> => ({
    recovered: await recover(),
    promoted: await attempt(promote),
    expired: await attempt(() => inRounds(() => registry.expire(limit))),
    dropped: await attempt(() => inRounds(drop)),
    collected: await attempt(collect),
  });

  const sweep = (): Promise<SweepResult> => {
    // Two passes at once would end the same runs.
    pass ??= sweepOnce().finally(() => void (pass = undefined));
    return pass;
  };

  const schedule = (): void => {
    if (!isStarted) return;
    timer = setTimeout(() => void sweep().then(schedule), everyMs * (0.8 + 0.4 * random()));
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
