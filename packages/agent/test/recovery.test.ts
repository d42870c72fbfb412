import { expect, it } from 'vitest';

import { killOnPostgres } from './recovery-kills.ts';

// The processes run the built packages. `npm run soak` kills 200 on Postgres and 100 on PGlite.
const timeout = 120_000;

it(
  'continues the runs of a model whose processes are killed 20 times, and runs no tool twice',
  { timeout },
  async ({ annotate }) => {
    const figures = await killOnPostgres({ kills: 20, runs: 2, concurrency: 5, leaseMs: 0 });
    await annotate(figures);
    expect(figures).toContain('20 kills: 40 runs complete');
    expect(Number(/(\d+) of them resumed/.exec(figures)?.[1])).toBeGreaterThan(20);
  },
);
