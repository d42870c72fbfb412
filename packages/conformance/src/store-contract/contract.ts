import type { Store } from '@intertie/core';
import type { StoreErrorCode } from '@intertie/core/store';
import { expect, onTestFinished } from 'vitest';

/** Clock of the stores under test. */
export type StoreClock = {
  /** Current time in milliseconds. */
  now(): number;
  /** Advances the store's time, by setting its clock or by waiting. */
  advance(ms: number): void | Promise<void>;
  /** Duration of a lease after a heartbeat. Keep it short if `advance` waits; no test may take longer than one lease. */
  leaseMs: number;
};

/** Options for a store whose log shares no transaction with its registry. */
export type DetachedLogSetup = {
  /** Opens an empty store whose log is never closed, as if every process crashed right after ending a run. */
  openWithUnclosedLog: () => Promise<Store>;
};

/** Access of the tests to the store under test. */
export type Contract = {
  /** Opens an empty store that is closed at the end of the test. */
  open(): Promise<Store>;
  /** Whether the log shares no transaction with the registry. */
  hasDetachedLog: boolean;
  /** Returns the clock. Skips the test with a reason if the store has none. */
  clock(context: { skip(note: string): void }): StoreClock;
};

export function createContract(
  open: () => Promise<Store>,
  { clock, detachedLog }: { clock: StoreClock | { none: string }; detachedLog?: DetachedLogSetup },
): Contract {
  return {
    hasDetachedLog: detachedLog !== undefined,
    async open() {
      const store = await open();
      onTestFinished(() => store.close());
      return store;
    },
    clock(context) {
      if ('none' in clock) context.skip(clock.none);
      return clock as StoreClock;
    },
  };
}

/** Matches the `StoreError` with which a store rejects a call. */
export function storeError(code: StoreErrorCode): object {
  return { name: 'StoreError', code, message: expect.stringMatching(/.{20}/) };
}
