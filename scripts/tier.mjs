// @ts-check
// node scripts/tier.mjs browser|peers [vitest arguments]: runs tests that need more than `npm ci` installs.
// node scripts/tier.mjs peers recordings <folder>: tests the recorded provider streams of a folder.
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { install } from './install.mjs';
import { root } from './workspace.mjs';

const [tier, ...rest] = process.argv.slice(2);
const folder = `tests/${tier}`;
if (tier === 'peers' && rest[0] === 'recordings' && rest[1] !== undefined && !rest[1].startsWith('-')) {
  const path = resolve(rest[1]);
  rest.splice(1, 1);
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    console.error(`${path} is not a folder. Pass a folder with recordings (*.chunks.txt).`);
    process.exit(1);
  }
  process.env['INTERTIE_RECORDINGS'] = path;
}
install(folder);
// Tests of peers use the browser of the other tier.
if (tier === 'peers') install('tests/browser');
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
