import { expect, it } from 'vitest';

import { killWorkers, openKillTarget } from './kill-workers.ts';

it.each(['Postgres', 'PGlite'] as const)('survives 100 SIGKILLs of a process that runs an agent on %s', async (on) => {
  const figures = await killWorkers(100, await openKillTarget(on));
  console.log(`${on}: ${figures}`);
  expect(figures).toContain('100 kills');
});
