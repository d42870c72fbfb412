import { expect, it } from 'vitest';

import { killOnPglite, killOnPostgres } from './recovery-kills.ts';

const { SOAK_KILLS } = process.env;
const runs = 4;

/** Most kills must hit live runs, otherwise the test proves nothing. */
function expectComplete(figures: string, kills: number): void {
  expect(figures).toContain(`${kills} kills: ${kills * runs} runs complete`);
  expect(Number(/(\d+) of them resumed/.exec(figures)?.[1])).toBeGreaterThan((kills * runs) / 2);
}

it('continues the runs of a model whose processes are killed 200 times on Postgres', async () => {
  const kills = Number(SOAK_KILLS ?? 200);
  const figures = await killOnPostgres({ kills, runs, concurrency: 4, leaseMs: 2_000 });
  console.log(`Postgres, lease of 2 s: ${figures}`);
  expectComplete(figures, kills);
});

it('continues the runs of a model whose processes are killed with the default lease', async () => {
  const kills = Number(SOAK_KILLS ?? 20);
  const figures = await killOnPostgres({ kills, runs, concurrency: 4, leaseMs: 15_000 });
  console.log(`Postgres, lease of 15 s: ${figures}`);
  expectComplete(figures, kills);
});

it('continues the runs of a model whose process is killed 100 times on PGlite', async () => {
  const kills = Number(SOAK_KILLS ?? 100);
  const figures = await killOnPglite({ kills, runs });
  console.log(`PGlite: ${figures}`);
  expectComplete(figures, kills);
});
