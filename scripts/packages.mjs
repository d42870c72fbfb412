// @ts-check
// What a package promises its users: publint and are-the-types-wrong on each, the contents of its archive, and knip on all.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { pack } from './pack.mjs';
import { filesIn, libraries, root } from './workspace.mjs';

/** @type {string[]} */
const complaints = [];

/**
 * @param {string} what
 * @param {string} bin
 * @param {string[]} args
 */
function run(what, bin, ...args) {
  const file = join(root, 'node_modules', bin);
  const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...args], { cwd: root, encoding: 'utf8' });
  console.log(status === 0 ? `${what}: fine` : `${what}:\n${stdout}${stderr}`);
  if (status !== 0) complaints.push(what);
}

const folder = mkdtempSync(join(tmpdir(), 'intertie-pack-'));
try {
  const archives = new Map(pack(folder).map((packed) => [packed.name, packed]));
  for (const { name, path, folder: home } of libraries()) {
    const { archive, files } = /** @type {{ archive: string, files: string[] }} */ (archives.get(name));
    run(`publint ${name}`, 'publint/src/cli.js', archive, '--strict');
    run(`attw ${name}`, '@arethetypeswrong/cli/dist/index.js', archive, '--profile', 'esm-only');

    const odd = files.filter((file) => /\.(test|test-d|soak)\.|tsbuildinfo/.test(file));
    if (odd.length > 0) complaints.push(`${name} would publish ${odd.join(', ')}`);
    if (name === 'intertie' && !files.includes('dist/console/index.html')) complaints.push(`${name} has no console`);
    // The console has its sources in an app, and its folder is emptied whenever it is built.
    const compiled = filesIn(join(path, 'dist')).filter((file) => file.endsWith('.js') && !file.startsWith('console/'));
    const stale = compiled.filter((file) => !existsSync(join(path, 'src', file.replace(/js$/, 'ts'))));
    if (stale.length > 0)
      complaints.push(`${home}/dist has files without a source (delete it and build): ${stale.join(', ')}`);
  }
} finally {
  rmSync(folder, { recursive: true });
}
run('knip', 'knip/bin/knip.js');

if (complaints.length > 0) {
  console.error(`Not fit to publish:\n${complaints.map((c) => `  ${c}`).join('\n')}`);
  process.exitCode = 1;
}
