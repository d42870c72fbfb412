import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

import { root } from '../../scripts/workspace.mjs';

/** Builds the console into the server package once for all tests. In production mode, since test mode would be slower. */
export default function buildConsole(): void {
  const vite = join(root, 'node_modules/vite/bin/vite.js');
  const { status } = spawnSync(process.execPath, [vite, 'build', '--logLevel', 'error'], {
    cwd: join(root, 'apps/console'),
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) throw new Error('The build of the console failed; see the output above.');
}
