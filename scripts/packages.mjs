// @ts-check
// Checks what users install: publint and are-the-types-wrong on each package, the contents of its archive, and knip on all.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { pack } from './pack.mjs';
import { filesIn, libraries, root } from './workspace.mjs';

/** @type {string[]} */
const problems = [];

/**
 * @param {string} what
 * @param {string} bin
 * @param {string[]} args
 */
function run(what, bin, ...args) {
  const file = join(root, 'node_modules', bin);
  const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...args], { cwd: root, encoding: 'utf8' });
  console.log(status === 0 ? `${what}: ok` : `${what}:\n${stdout}${stderr}`);
  if (status !== 0) problems.push(what);
}

const folder = mkdtempSync(join(tmpdir(), 'intertie-pack-'));
try {
  const archives = new Map(pack(folder).map((packed) => [packed.name, packed]));
  for (const { name, path, folder: source } of libraries()) {
    const { archive, files } = /** @type {{ archive: string, files: string[] }} */ (archives.get(name));
    run(`publint ${name}`, 'publint/src/cli.js', archive, '--strict');
    run(`attw ${name}`, '@arethetypeswrong/cli/dist/index.js', archive, '--profile', 'esm-only');

    // `intertie init` copies the folder `project`, with its test, into new projects.
    const own = files.filter((file) => !file.startsWith('project/'));
    const unwanted = own.filter((file) => /\.(test|test-d|soak)\.|tsbuildinfo/.test(file));
    if (unwanted.length > 0) problems.push(`${name} would publish ${unwanted.join(', ')}`);
    if (name === 'intertie' && !files.includes('dist/console/index.html')) problems.push(`${name} has no console`);
    // The sources of the console are in apps/console, and every build empties its folder.
    const compiled = filesIn(join(path, 'dist')).filter((file) => file.endsWith('.js') && !file.startsWith('console/'));
    const stale = compiled.filter((file) => !existsSync(join(path, 'src', file.replace(/js$/, 'ts'))));
    if (stale.length > 0)
      problems.push(`${source}/dist has files without a source (delete it and build): ${stale.join(', ')}`);
  }
} finally {
  rmSync(folder, { recursive: true });
}
run('knip', 'knip/bin/knip.js');

if (problems.length > 0) {
  console.error(`Not ready to publish:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
  process.exitCode = 1;
}
