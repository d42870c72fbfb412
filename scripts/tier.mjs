// @ts-check
// node scripts/tier.mjs browser|peers [vitest arguments]: a folder of tests that needs more than `npm ci` gives.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

import { install } from './install.mjs';
import { root } from './workspace.mjs';

const [tier, ...rest] = process.argv.slice(2);
const folder = `tests/${tier}`;
install(folder);
run('typescript/bin/tsc', '-p', folder);
run('vitest/vitest.mjs', 'run', '--config', `${folder}/vitest.config.ts`, ...rest);

/**
 * @param {string} bin
 * @param {string[]} args
 */
function run(bin, ...args) {
  const { status } = spawnSync(process.execPath, [join(root, 'node_modules', bin), ...args], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
}
