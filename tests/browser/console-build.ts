import { join } from 'node:path';

import { build } from 'vite';

import { root } from '../../scripts/workspace.mjs';

/** Builds the console into the server, once for all tests. */
export default async function buildConsole(): Promise<void> {
  await build({ root: join(root, 'apps/console'), logLevel: 'error' });
}
