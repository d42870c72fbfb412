import { createInMemoryStore, withDetachedLog, type Store } from '@intertie/core';

import { createMapLog } from '../../../core/test/map-log.ts';
import { storeContract, type StoreContractOptions } from './store-contract.ts';

let now = Date.parse('2024-03-01T12:00:00Z');
const clock: StoreContractOptions['clock'] = {
  now: () => now,
  advance: (ms) => void (now += ms),
  leaseMs: 15_000,
};
const open = (): Store => createInMemoryStore({ now: () => now, leaseMs: clock.leaseMs });

storeContract('in memory', async () => open(), { clock });

storeContract('in memory, detached log', async () => withDetachedLog(open(), createMapLog()), {
  clock,
  detachedLog: {
    openWithUnclosedLog: async () => withDetachedLog(open(), { ...createMapLog(), close: () => new Promise(() => {}) }),
  },
});
