// @ts-check
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

import { cache, root } from './workspace.mjs';

const manifests = ['package.json', 'package-lock.json', '.npmrc'];

/**
 * Installs the dependencies of a folder outside the workspace into the cache, once per lockfile, and links them as the
 * folder's `node_modules`. A `node_modules` that is a real folder is left unchanged.
 * @param {string} folder relative to the root
 */
export function install(folder) {
  const path = join(root, folder);
  const link = join(path, 'node_modules');
  const state = lstatSync(link, { throwIfNoEntry: false });
  if (state?.isDirectory()) return;

  const hash = createHash('sha256').update(`${process.platform} ${process.arch} ${process.versions.modules}`);
  for (const name of manifests) hash.update(readFileSync(join(path, name)));
  const place = join(cache, 'installed', `${folder.replaceAll('/', '-')}-${hash.digest('hex').slice(0, 16)}`);

  if (!existsSync(place)) {
    console.log(`Installing the dependencies of ${folder} (once, into the cache).`);
    mkdirSync(join(cache, 'installed'), { recursive: true });
    const draft = mkdtempSync(`${place}-draft-`);
    for (const name of manifests) copyFileSync(join(path, name), join(draft, name));
    const args = ['ci', '--no-audit', '--no-fund', '--loglevel=warn'];
    const { status } = spawnSync('npm', args, { cwd: draft, stdio: ['ignore', 'inherit', 'inherit'] });
    if (status !== 0) {
      rmSync(draft, { recursive: true });
      throw new Error(`npm could not install the dependencies of ${folder}; its output is above.`);
    }
    try {
      renameSync(draft, place);
    } catch (error) {
      // Another process was faster.
      if (!existsSync(place)) throw error;
      rmSync(draft, { recursive: true });
    }
  }

  const target = join(place, 'node_modules');
  if (state && readlinkSync(link) === target) return;
  rmSync(link, { force: true });
  symlinkSync(target, link, 'junction');
}
