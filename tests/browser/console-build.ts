import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

import { root } from '../../scripts/workspace.mjs';

/** Builds the console into the server, once for all tests, as it is published: a test's environment would make a slower one. */
export default function buildConsole(): void {
  const vite = join(root, 'node_modules/vite/bin/vite.js');
  const { status } = spawnSync(process.execPath, [vite, 'build', '--logLevel', 'error'], {
    cwd: join(root, 'apps/console'),
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) throw new Error('The console could not be built; its own words are above.');
}
