import { expect, it } from 'vitest';

import { restartNodes } from './rolling-restart.ts';

// `npm run soak` restarts three nodes under 100 runs.
it(
  'restarts two nodes under 10 live runs, and every client ends with the stored message',
  { timeout: 120_000 },
  async ({ annotate }) => {
    const figures = await restartNodes({ nodes: 2, runs: 10, delayMs: 100, sweepMs: 200 });
    await annotate(figures);
    expect(figures).toContain('10 runs complete');
  },
);
