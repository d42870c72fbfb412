import { createInMemoryStore } from '@intertie/core';

import { storeContract } from './store-contract.ts';

let now = Date.parse('2024-03-01T12:00:00Z');

storeContract('in memory', async () => createInMemoryStore({ now: () => now }), {
  clock: {
    now: () => now,
    advance: (ms) => void (now += ms),
    leaseMs: 15_000,
  },
});
