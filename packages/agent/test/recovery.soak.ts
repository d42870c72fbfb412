import { expect, it } from 'vitest';

import { killOnPglite, killOnPostgres } from './recovery-kills.ts';

it('continues the runs of a model whose processes are killed 200 times on Postgres', async () => {
  const figures = await killOnPostgres({ kills: 200, runs: 4, concurrency: 4, leaseMs: 2_000 });
  console.log(`Postgres, lease of 2 s: ${figures}`);
  expect(figures).toContain('200 kills: 800 runs complete');
});

it('continues the runs of a model whose process is killed 100 times on PGlite', async () => {
  const figures = await killOnPglite({ kills: 100, runs: 4 });
  console.log(`PGlite: ${figures}`);
  expect(figures).toContain('100 kills: 400 runs complete');
});
