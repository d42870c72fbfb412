import { expect, it } from 'vitest';

import { killOnPglite, killOnPostgres } from './recovery-kills.ts';

const { SOAK_KILLS } = process.env;
const runs = 4;

/** A kill proves nothing if the runs have ended before. */
const countResumed = (figures: string): number => Number(/(\d+) of them resumed/.exec(figures)?.[1]);

it.each([
  { leaseMs: 2_000, kills: Number(SOAK_KILLS ?? 200) },
  { leaseMs: 15_000, kills: Number(SOAK_KILLS ?? 20) },
])(
  'continues the runs of a model whose processes are killed on Postgres, with a lease of $leaseMs ms',
  async ({ leaseMs, kills }) => {
    const figures = await killOnPostgres({ kills, runs, concurrency: 4, leaseMs });
    console.log(`Postgres, lease of ${leaseMs} ms: ${figures}`);
    expect(figures).toContain(`${kills} kills: ${kills * runs} runs complete`);
    expect(countResumed(figures)).toBeGreaterThan((kills * runs) / 2);
  },
);

it('continues the runs of a model whose process is killed 100 times on PGlite', async () => {
  const kills = Number(SOAK_KILLS ?? 100);
  const figures = await killOnPglite({ kills, runs });
  console.log(`PGlite: ${figures}`);
  expect(figures).toContain(`${kills} kills: ${kills * runs} runs complete`);
  expect(countResumed(figures)).toBeGreaterThan((kills * runs) / 2);
});
