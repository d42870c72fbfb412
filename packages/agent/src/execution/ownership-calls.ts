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

  /** Passes the result to `handle` before the call counts as settled, so that a run is always either in a pending call or known to the host. */
  async call<Result, Handled>(
    request: () => Promise<Result>,
    handle: (result: Result) => Handled,
  ): Promise<Awaited<Handled>> {
    const id = Symbol('call');
    this.#inFlight.add(id);
    let handled: Handled;
    try {
      handled = handle(await persist(request, { ...retries, onError: this.#onError }));
    } finally {
      this.#inFlight.delete(id);
    }
    return await handled;
  }

  /** Returns a check for whether all currently pending calls have settled. */
  observe(): () => boolean {
    const observed = [...this.#inFlight];
    return () => !observed.some((id) => this.#inFlight.has(id));
  }
}
