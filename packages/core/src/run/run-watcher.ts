import type { Hint, Hints } from '../store/hints.ts';
import type { LocalRuns } from './run-flusher.ts';
import type { RunKey, RunLog, RunPosition } from '../store/run-log.ts';

export type RunWatcherOptions = {
  log: Pick<RunLog, 'positions'>;
  hints: Hints;
  /** This process and the runs that it writes. Local followers receive those flushes without a poll. */
  process?: string;
  local?: Pick<LocalRuns, 'writes'>;
  /** Poll interval while hints arrive, and while they do not. Default: 1 s and 250 ms. */
  pollMs?: { connected: number; alone: number };
  /** Delay before a requested poll, so that many hints cause few polls. Default: 15 ms. */
  restMs?: number;
  /** Called when a poll fails; polling continues. */
  onError?: (error: unknown) => void;
};

/** Receives the position of the run, or undefined if the run does not exist. */
export type PositionListener = (position: RunPosition | undefined) => void;

export interface RunWatcher {
  /** Polls now, after every hint and at intervals, until the returned function is called. */
  watch(run: RunKey, listener: PositionListener): () => void;
  close(): void;
}

/** Watches the runs that this process follows or owns. One query per poll covers all of them. */
export function createRunWatcher(options: RunWatcherOptions): RunWatcher {
  const { log, hints, process, local, restMs = 15, onError } = options;
  const { connected, alone } = options.pollMs ?? { connected: 1_000, alone: 250 };
  const listeners = new Map<RunKey, Set<PositionListener>>();
  let unsubscribe: (() => void) | undefined;
  let timer: { id: ReturnType<typeof setTimeout>; isPoll: boolean } | undefined;
  let isPolling = false;
  let isRequestedAgain = false;

  const schedule = (isPoll: boolean): void => {
    clearTimeout(timer?.id);
    const delay = isPoll ? (hints.isConnected?.() === false ? alone : connected) : restMs;
    timer = listeners.size === 0 ? undefined : { isPoll, id: setTimeout(() => void poll(), delay) };
  };

  const poll = async (): Promise<void> => {
    clearTimeout(timer?.id);
    timer = undefined;
    isPolling = true;
    isRequestedAgain = false;
    const runs = [...listeners.keys()];
    try {
      const positions = await log.positions(runs);
      for (const run of runs) for (const listener of listeners.get(run) ?? []) listener(positions.get(run));
    } catch (error) {
      onError?.(error);
    }
    isPolling = false;
    schedule(!isRequestedAgain);
  };

  /** Polls soon. Hints that arrive together cause one poll. */
  const requestPoll = (): void => {
    if (isPolling) isRequestedAgain = true;
    else if (timer?.isPoll !== false) schedule(false);
  };

  const isRelevant = (hint: Hint): boolean => {
    if (hint.type === 'thread' || hint.type === 'unread' || hint.type === 'read') return false;
    if (hint.type !== 'flushed') return listeners.has(hint.run);
    return !local || hint.process !== process || [...listeners.keys()].some((run) => !local.writes(run));
  };

  const stop = (): void => {
    clearTimeout(timer?.id);
    timer = undefined;
    unsubscribe?.();
    unsubscribe = undefined;
  };

  return {
    watch(run, listener) {
      const subscription: PositionListener = (position) => listener(position);
      let runListeners = listeners.get(run);
      if (!runListeners) listeners.set(run, (runListeners = new Set()));
      runListeners.add(subscription);
      unsubscribe ??= hints.subscribe((hint) => {
        if (isRelevant(hint)) requestPoll();
      });
      requestPoll();
      return () => {
        runListeners.delete(subscription);
        if (runListeners.size === 0 && listeners.get(run) === runListeners) listeners.delete(run);
        if (listeners.size === 0) stop();
      };
    },
    close() {
      listeners.clear();
      stop();
    },
  };
}
