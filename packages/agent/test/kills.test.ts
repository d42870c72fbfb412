import { expect, it } from 'vitest';

import { killWorkers, openKillTarget } from './kill-workers.ts';

// The worker runs the built packages in another process. `npm run soak` kills a hundred of each.
const timeout = 240_000;

it('survives 9 SIGKILLs of a process that runs tools and approvals on Postgres', { timeout }, async ({ annotate }) => {
  const figures = await killWorkers(9, await openKillTarget('Postgres'));
  await annotate(figures);
  expect(figures).toContain('9 kills');
});

it('survives a SIGKILL of a process that runs tools and approvals on PGlite', { timeout }, async ({ annotate }) => {
  const figures = await killWorkers(1, await openKillTarget('PGlite'));
  await annotate(figures);
  expect(figures).toContain('1 kills');
});
