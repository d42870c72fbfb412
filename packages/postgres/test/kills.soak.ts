import { expect, it } from 'vitest';

import { killingOn, killWriters } from './kill-writers.ts';

it.each(['Postgres', 'PGlite'] as const)('loses no durable event in 100 SIGKILLs of a writer on %s', async (on) => {
  const figures = await killWriters(100, await killingOn(on));
  console.log(`${on}: ${figures}`);
  expect(figures).toContain('100 kills');
});
