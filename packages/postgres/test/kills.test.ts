import { expect, it } from 'vitest';

import { killingOn, killWriters } from './kill-writers.ts';

// The writer is a separate process that runs the build output. `npm run soak` kills a hundred of each.
const timeout = 240_000;

it('loses no durable event in 9 SIGKILLs of a writer on Postgres', { timeout }, async ({ annotate }) => {
  const figures = await killWriters(9, await killingOn('Postgres'));
  await annotate(figures);
  expect(figures).toContain('9 kills');
});

it('loses no durable event in a SIGKILL of a writer on PGlite', { timeout }, async ({ annotate }) => {
  const figures = await killWriters(1, await killingOn('PGlite'));
  await annotate(figures);
  expect(figures).toContain('1 kills');
});
