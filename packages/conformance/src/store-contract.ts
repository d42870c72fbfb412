import type { Store } from '@intertie/core';
import { describe } from 'vitest';

import { questionTests } from './store-contract/asking.ts';
import { blobTests } from './store-contract/blobs.ts';
import { branchTests } from './store-contract/branches.ts';
import { changeTests } from './store-contract/changes.ts';
import { continuationTests } from './store-contract/continuing.ts';
import { createContract, type LogElsewhere, type StoreClock } from './store-contract/contract.ts';
import { detachedLogTests } from './store-contract/detached-log.ts';
import { hintTests } from './store-contract/hints.ts';
import { ownershipTests } from './store-contract/owning.ts';
import { repeatedCallTests } from './store-contract/repeated-calls.ts';
import { runLogTests } from './store-contract/run-log.ts';
import { savingTests } from './store-contract/saving.ts';
import { scopeTests } from './store-contract/scopes.ts';
import { startTests } from './store-contract/starting.ts';
import { threadTests } from './store-contract/threads.ts';

export type { LogElsewhere, StoreClock } from './store-contract/contract.ts';

export type StoreContractOptions = {
  /** The time of the stores that `open` gives, or the reason why none can be made to pass: the skipped tests say it. */
  clock?: StoreClock | { none: string };
  /**
   * The log shares no transaction with the registry (`withDetachedLog`). Less is asked of it then, and no more than this less:
   * an append does not say that a stop is requested (`positions` does), nor that there is no such run; a run can be ended though
   * its log has lost events; a repeated `start` does not see what the run has logged; and the end of a run may be missing in its log, where readers are given one all the same.
   */
  logElsewhere?: LogElsewhere;
};

/**
 * What every store does, as a vitest suite. Call it in a test file; `open` gives an empty store of its own each time, and
 * the suite closes it.
 */
export function storeContract(name: string, open: () => Promise<Store>, options: StoreContractOptions = {}): void {
  const { clock = { none: 'no clock was given to storeContract' }, logElsewhere } = options;
  const contract = createContract(open, { clock, ...(logElsewhere && { logElsewhere }) });
  describe(`the store contract, ${name}`, () => {
    savingTests(contract);
    branchTests(contract);
    changeTests(contract);
    threadTests(contract);
    scopeTests(contract);
    startTests(contract);
    runLogTests(contract);
    if (logElsewhere) detachedLogTests(contract, logElsewhere);
    ownershipTests(contract);
    repeatedCallTests(contract);
    questionTests(contract);
    continuationTests(contract);
    blobTests(contract);
    hintTests(contract);
  });
}
