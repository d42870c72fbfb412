import type { Store } from '@intertie/core';
import { describe } from 'vitest';

import { decisionTests } from './decisions.ts';
import { blobTests } from './blobs.ts';
import { branchTests } from './branches.ts';
import { changeTests } from './changes.ts';
import { continuationTests } from './continuation.ts';
import { createContract, type DetachedLogSetup, type StoreClock } from './contract.ts';
import { detachedLogTests } from './detached-log.ts';
import { hintTests } from './hints.ts';
import { latestRunTests } from './latest-runs.ts';
import { ownershipTests } from './ownership.ts';
import { repeatedCallTests } from './repeated-calls.ts';
import { runLogTests } from './run-log.ts';
import { messageTests } from './messages.ts';
import { scopeTests } from './scopes.ts';
import { startTests } from './start.ts';
import { searchTests } from './search.ts';
import { threadTests } from './threads.ts';

export type { DetachedLogSetup, StoreClock } from './contract.ts';

export type StoreContractOptions = {
  /** Clock of the stores that `open` returns, or the reason why they have none, which the skipped tests print. */
  clock?: StoreClock | { none: string };
  /**
   * Set if the log shares no transaction with the registry (`withDetachedLog`). The contract is weaker then: `append` does not
   * report a requested stop (`positions` does) or an unknown run; a run can be ended although its log has lost events; a
   * repeated `start` does not see the logged events; and the log may lack the end of its run, which readers still receive.
   */
  detachedLog?: DetachedLogSetup;
};

/**
 * Defines the tests of the store contract as a vitest suite. Call it in a test file. `open` returns a new empty store for
 * each test; the suite closes it.
 */
export function storeContract(name: string, open: () => Promise<Store>, options: StoreContractOptions = {}): void {
  const { clock = { none: 'no clock was given to storeContract' }, detachedLog } = options;
  const contract = createContract(open, { clock, ...(detachedLog && { detachedLog }) });
  describe(`the store contract, ${name}`, () => {
    messageTests(contract);
    branchTests(contract);
    changeTests(contract);
    threadTests(contract);
    searchTests(contract);
    scopeTests(contract);
    startTests(contract);
    runLogTests(contract);
    if (detachedLog) detachedLogTests(contract, detachedLog);
    ownershipTests(contract);
    repeatedCallTests(contract);
    decisionTests(contract);
    continuationTests(contract);
    latestRunTests(contract);
    blobTests(contract);
    hintTests(contract);
  });
}
