/** For how long a stream is read at least before another one has its turn. */
const turnMs = 1500;

/** A place among those who read streams. */
export type Turn = {
  /** Somebody else waits, and it has been long enough. */
  readonly over: AbortSignal;
  /** The place is free again. */
  done: () => void;
};

export type TakeTurn = (signal: AbortSignal) => Promise<Turn>;

/**
 * A browser has six connections to a server for all its tabs. So of each kind of stream only so many are read at a time, in all
 * tabs together: who has read for a while makes room for who waits, and goes on behind the last word when it is its turn again.
 */
export function turnsFor(kind: string, places: number): TakeTurn {
  const names = Array.from({ length: places }, (_, index) => `intertie:turn:${kind}:${index}`);
  return async (signal) => {
    // Outside of a secure context there are no locks: then nobody knows of the others.
    const locks = globalThis.navigator?.locks as LockManager | undefined;
    if (locks === undefined) return { over: new AbortController().signal, done: () => undefined };
    signal.throwIfAborted();
    const name = await leastWanted(locks, names);
    return new Promise((resolve, reject) => {
      const hold = (): Promise<void> =>
        new Promise((release) => {
          resolve(turn(locks, name, release));
        });
      locks.request(name, { signal }, hold).catch(reject);
    });
  };
}

/** Two of a browser's six: beside answers there are a thread's feed, a run's events and frames, and whatever is asked for once. */
export const answerTurns: TakeTurn = turnsFor('answers', 2);
export const feedTurns: TakeTurn = turnsFor('feeds', 1);

async function leastWanted(locks: LockManager, names: readonly string[]): Promise<string> {
  const { held = [], pending = [] } = await locks.query();
  const wanted = (name: string): number => [...held, ...pending].filter((lock) => lock.name === name).length;
  return names.reduce((best, name) => (wanted(name) < wanted(best) ? name : best));
}

function turn(locks: LockManager, name: string, release: () => void): Turn {
  const over = new AbortController();
  const look = async (): Promise<void> => {
    const { pending = [] } = await locks.query();
    if (pending.some((lock) => lock.name === name)) over.abort();
  };
  const timer = setInterval(() => void look().catch(() => undefined), turnMs);
  return {
    over: over.signal,
    done: () => {
      clearInterval(timer);
      release();
    },
  };
}
