import { expect, it } from 'vitest';

import { killingOn, killWorkers } from './kill-workers.ts';

// The worker is a process of its own, and runs what was built. `npm run soak` kills a hundred of each.
const timeout = 240_000;

it('9 SIGKILLs of a process that runs tools and approvals on Postgres', { timeout }, async ({ annotate }) => {
  const figures = await killWorkers(9, await killingOn('Postgres'));
  await annotate(figures);
  expect(figures).toContain('9 kills');
});

it('a SIGKILL of such a process on PGlite', { timeout }, async ({ annotate }) => {
  const figures = await killWorkers(1, await killingOn('PGlite'));
  await annotate(figures);
  expect(figures).toContain('1 kills');
});
