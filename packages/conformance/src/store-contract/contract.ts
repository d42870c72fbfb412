import type { Store } from '@intertie/core';
import type { StoreErrorCode } from '@intertie/core/store';
import { expect, onTestFinished } from 'vitest';

/** The time that the stores under test live by. */
export type StoreClock = {
  /** In milliseconds. */
  now(): number;
  /** Makes that much time pass for the store: by setting its clock, or by waiting. */
  advance(ms: number): void | Promise<void>;
  /** How long a lease of these stores lasts after a heartbeat. Short, if `advance` waits; no test may take that long. */
  leaseMs: number;
};

/** Of a store whose log shares no transaction with its registry. */
export type LogElsewhere = {
  /** Gives an empty store, like `open`, whose log is never closed: as if every process died right after the end of a run. */
  openCut: () => Promise<Store>;
};

/** What the tests need of the store under test. */
export type Contract = {
  /** A store of its own, empty, closed when the test is over. */
  open(): Promise<Store>;
  /** Whether the log shares no transaction with the registry. */
  isLogElsewhere: boolean;
  /** The clock; where there is none the test is skipped, and says why. */
  clock(context: { skip(note: string): void }): StoreClock;
};

export function createContract(
  open: () => Promise<Store>,
  { clock, logElsewhere }: { clock: StoreClock | { none: string }; logElsewhere?: LogElsewhere },
): Contract {
  return {
    isLogElsewhere: logElsewhere !== undefined,
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

/** How a store refuses a call: by the code that programs act on, with a text for people. */
export function refusal(code: StoreErrorCode): object {
  return { name: 'StoreError', code, message: expect.stringMatching(/.{20}/) };
}
