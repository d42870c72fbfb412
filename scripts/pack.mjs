// @ts-check
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

import { libraries, root } from './workspace.mjs';

/**
 * Packs every library as it would be published.
 * @param {string} destination
 * @returns {Array<{ name: string, archive: string, files: string[] }>}
 */
export function pack(destination) {
  const folders = libraries().flatMap(({ folder }) => ['--workspace', folder]);
  const args = ['pack', ...folders, '--json', '--pack-destination', destination, '--loglevel=error'];
  /** @type {Array<{ name: string, filename: string, files: Array<{ path: string }> }>} */
  const packed = Object.values(JSON.parse(execFileSync('npm', args, { cwd: root, encoding: 'utf8' })));
  return packed.map(({ name, filename, files }) => ({
    name,
    archive: join(destination, filename),
    files: files.map(({ path }) => path),
  }));
}
