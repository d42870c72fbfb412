import { persist } from './persist.ts';

/** A client waits for these calls, so they give up soon. The sweep finds a run whose reply was lost on every attempt. */
const retries = { maxOutageMs: 1_000, maxErrorMs: 1_000 };

/**
 * Registry calls whose reply may give this process a run. All of them are repeatable (see `Registry`), so a call that fails is
 * repeated, although it may have been committed.
 */
export class OwnershipCalls {
  #inFlight = new Set<symbol>();
  #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Hands the result to `handle` before the call counts as settled: a run is either in flight or known to this process. */
  async make<Result, Handled>(
    call: () => Promise<Result>,
    handle: (result: Result) => Handled,
  ): Promise<Awaited<Handled>> {
    const id = Symbol('call');
    this.#inFlight.add(id);
    let handled: Handled;
    try {
      handled = handle(await persist(call, { ...retries, onError: this.#onError }));
    } finally {
      this.#inFlight.delete(id);
    }
    return await handled;
  }

  /** Returns a function that returns whether the calls that are in flight now have settled. */
  observe(): () => boolean {
    const observed = [...this.#inFlight];
    return () => !observed.some((id) => this.#inFlight.has(id));
  }
}
