import type { Hint, Hints } from '../store/hints.ts';
import type { LocalRuns } from './run-flusher.ts';
import type { RunKey, RunLog, RunPosition } from '../store/run-log.ts';

export type RunWatcherOptions = {
  log: Pick<RunLog, 'positions'>;
  hints: Hints;
  /** This process, and the runs that it writes: their flushes reach those who follow them here without a look. */
  process?: string;
  local?: Pick<LocalRuns, 'writes'>;
  /** How often to look where hints arrive, and where they do not. 1 s and 250 ms unless given. */
  pollMs?: { connected: number; alone: number };
  /** How long to wait after a look, so that many hints make few looks. 15 ms unless given. */
  restMs?: number;
  /** Is told of a look that failed; there will be another. */
  onError?: (error: unknown) => void;
};

/** Is told where the run is; undefined if there is no such run (any more). */
export type PositionListener = (position: RunPosition | undefined) => void;

export interface RunWatcher {
  /** Looks now, and again after every hint and whenever it is time, until the function it returns is called. */
  watch(run: RunKey, listener: PositionListener): () => void;
  close(): void;
}

/** One per process: a single look for all the runs that anybody here follows or owns, however many they are. */
export function createRunWatcher(options: RunWatcherOptions): RunWatcher {
  const { log, hints, process, local, restMs = 15, onError } = options;
  const { connected, alone } = options.pollMs ?? { connected: 1_000, alone: 250 };
  const listeners = new Map<RunKey, Set<PositionListener>>();
  let unsubscribe: (() => void) | undefined;
  let timer: { id: ReturnType<typeof setTimeout>; isPoll: boolean } | undefined;
  let isLooking = false;
  let isAskedAgain = false;

  const schedule = (isPoll: boolean): void => {
    clearTimeout(timer?.id);
    const delay = isPoll ? (hints.isConnected?.() === false ? alone : connected) : restMs;
    timer = listeners.size === 0 ? undefined : { isPoll, id: setTimeout(() => void look(), delay) };
  };

  const look = async (): Promise<void> => {
    clearTimeout(timer?.id);
    timer = undefined;
    isLooking = true;
    isAskedAgain = false;
    const runs = [...listeners.keys()];
    try {
      const positions = await log.positions(runs);
      for (const run of runs) for (const listener of listeners.get(run) ?? []) listener(positions.get(run));
    } catch (error) {
      onError?.(error);
    }
    isLooking = false;
    schedule(!isAskedAgain);
  };

  /** Soon: what is told in one breath is looked at once. */
  const ask = (): void => {
    if (isLooking) isAskedAgain = true;
    else if (timer?.isPoll !== false) schedule(false);
  };

  const concerns = (hint: Hint): boolean => {
    if (hint.type === 'thread') return false;
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
      const own: PositionListener = (position) => listener(position);
      let all = listeners.get(run);
      if (!all) listeners.set(run, (all = new Set()));
      all.add(own);
      unsubscribe ??= hints.subscribe((hint) => {
        if (concerns(hint)) ask();
      });
      ask();
      return () => {
        all.delete(own);
        if (all.size === 0 && listeners.get(run) === all) listeners.delete(run);
        if (listeners.size === 0) stop();
      };
    },
    close() {
      listeners.clear();
      stop();
    },
  };
}
