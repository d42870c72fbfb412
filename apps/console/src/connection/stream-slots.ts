/** Minimum time that a reader keeps its slot while others wait. */
const minHoldMs = 1500;

/** Permission to read one stream. */
export type StreamSlot = {
  /** Aborts when the minimum time has passed and another reader waits. */
  readonly revoked: AbortSignal;
  release: () => void;
};

export type AcquireSlot = (signal: AbortSignal) => Promise<StreamSlot>;

/**
 * Limits the number of streams of a kind that all tabs of a browser read at a time: browsers allow six HTTP/1.1 connections per
 * server. A reader whose slot is revoked disconnects, and resumes after its last event when it gets a slot again.
 */
export function createSlots(kind: string, count: number): AcquireSlot {
  const names = Array.from({ length: count }, (_, index) => `intertie:slot:${kind}:${index}`);
  return async (signal) => {
    // Web Locks exist in secure contexts only; without them tabs cannot coordinate.
    const locks = globalThis.navigator?.locks as LockManager | undefined;
    if (locks === undefined) return { revoked: new AbortController().signal, release: () => undefined };
    signal.throwIfAborted();
    const name = await findLeastContended(locks, names);
    return new Promise((resolve, reject) => {
      const hold = (): Promise<void> =>
        new Promise((release) => {
          resolve(createSlot(locks, name, release));
        });
      locks.request(name, { signal }, hold).catch(reject);
    });
  };
}

/** Two of the six connections: the thread's events, a run's events and frames, and single requests need the others. */
export const acquireAnswerSlot: AcquireSlot = createSlots('answers', 2);
export const acquireThreadSlot: AcquireSlot = createSlots('threads', 1);

async function findLeastContended(locks: LockManager, names: readonly string[]): Promise<string> {
  const { held = [], pending = [] } = await locks.query();
  const countUsers = (name: string): number => [...held, ...pending].filter((lock) => lock.name === name).length;
  return names.reduce((best, name) => (countUsers(name) < countUsers(best) ? name : best));
}

function createSlot(locks: LockManager, name: string, release: () => void): StreamSlot {
  const revoked = new AbortController();
  const revokeIfContended = async (): Promise<void> => {
    const { pending = [] } = await locks.query();
    if (pending.some((lock) => lock.name === name)) revoked.abort();
  };
  const timer = setInterval(() => void revokeIfContended().catch(() => undefined), minHoldMs);
  return {
    revoked: revoked.signal,
    release: () => {
      clearInterval(timer);
      release();
    },
  };
}
