import { DatabaseUnavailableError, StoreError } from '@intertie/core';
import { pause } from '@intertie/core/internal';

export type PersistOptions = {
  /** Maximum outage of the database; then the call fails with a `DatabaseUnavailableError`. */
  maxOutageMs: number;
  /** Maximum time during which the call is repeated after other errors. Default: 10 s. */
  maxErrorMs?: number;
  /** Aborts the wait, which then fails with the last error. */
  signal?: AbortSignal;
  /** Receives every error after which the call is repeated. */
  onError: (error: unknown) => void;
};

/** Longest pause between two calls. */
const maxPauseMs = 1_000;

/** Repeats a call until the store has answered it. A refusal (`StoreError`) is an answer. */
export async function persist<Result>(call: () => Promise<Result>, options: PersistOptions): Promise<Result> {
  const { maxOutageMs, maxErrorMs = 10_000, signal = new AbortController().signal, onError } = options;
  const start = performance.now();
  for (let attempt = 0; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (error instanceof StoreError || signal.aborted) throw error;
      const isAway = error instanceof DatabaseUnavailableError;
      if (performance.now() - start >= (isAway ? maxOutageMs : maxErrorMs)) {
        // Users read this message, so it has no cause: `onError` has received the cause.
        throw isAway ? new DatabaseUnavailableError(`${awayFor(maxOutageMs)} Try again later.`) : error;
      }
      onError(error);
      await pause(Math.min(40 * 2 ** attempt, maxPauseMs), signal).catch(() => undefined);
    }
  }
}

function awayFor(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const [amount, unit] =
    seconds >= 120 ? [Math.round(seconds / 60), 'minutes'] : [seconds, seconds === 1 ? 'second' : 'seconds'];
  return `The database has not answered for ${amount} ${unit}.`;
}
