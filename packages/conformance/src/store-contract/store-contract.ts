import type { Store } from '@intertie/core';
import { describe } from 'vitest';

import { questionTests } from './decisions.ts';
import { blobTests } from './blobs.ts';
import { branchTests } from './branches.ts';
import { changeTests } from './changes.ts';
import { continuationTests } from './continuation.ts';
import { createContract, type LogElsewhere, type StoreClock } from './contract.ts';
import { detachedLogTests } from './detached-log.ts';
import { hintTests } from './hints.ts';
import { ownershipTests } from './ownership.ts';
import { repeatedCallTests } from './repeated-calls.ts';
import { runLogTests } from './run-log.ts';
import { savingTests } from './messages.ts';
import { scopeTests } from './scopes.ts';
import { startTests } from './start.ts';
import { threadTests } from './threads.ts';

export type { LogElsewhere, StoreClock } from './contract.ts';

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
