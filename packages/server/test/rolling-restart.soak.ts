import { expect, it } from 'vitest';

import { restartNodes } from './rolling-restart.ts';

it('restarts three nodes under 100 live runs, and every client ends with the stored message', async () => {
  const figures = await restartNodes({ nodes: 3, runs: 100, delayMs: 1_500 });
  console.log(figures);
  expect(figures).toContain('100 runs complete');
});
