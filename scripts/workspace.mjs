// @ts-check
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * @typedef {{ subpath: string, specifier: string, source: string, file: string }} Entry
 *   `source` is the TypeScript file, `file` the built one; both absolute.
 * @typedef {{ name: string, version: string, license?: string, dependencies?: Record<string, string>,
 *   peerDependencies?: Record<string, string>, peerDependenciesMeta?: Record<string, { optional?: boolean }>,
 *   exports?: Record<string, string | Record<string, string>> }} Manifest
 * @typedef {{ name: string, folder: string, path: string, manifest: Manifest, entries: Entry[] }} Package
 *   `folder` is relative to the root (`packages/core`), `path` absolute.
 */

export const root = fileURLToPath(new URL('..', import.meta.url));

/** Folder for installations and downloads of the test tiers beyond `npm test`, outside the checkout. */
export const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'intertie');

/** Entries with an optional peer dependency. */
export const optionalPeers = new Map([
  ['@intertie/ag-ui/protobuf', '@ag-ui/proto'],
  ['@intertie/conformance/arbitraries', 'fast-check'],
  ['@intertie/conformance/store-contract', 'vitest'],
  ['@intertie/postgres/drizzle', 'drizzle-orm'],
]);

/**
 * Returns every package and app of the workspace, sorted by name.
 * @returns {Package[]}
 */
export function packages() {
  return ['packages', 'apps']
    .filter((parent) => existsSync(join(root, parent)))
    .flatMap((parent) => readdirSync(join(root, parent)).map((name) => `${parent}/${name}`))
    .filter((folder) => existsSync(join(root, folder, 'package.json')))
    .map(read)
    .toSorted((a, b) => a.name.localeCompare(b.name));
}

/**
 * Returns the published packages. Apps are built into them.
 * @returns {Package[]}
 */
export function libraries() {
  return packages().filter(({ folder }) => folder.startsWith('packages/'));
}

/**
 * Returns the files below a folder, as sorted relative paths with `/`.
 * @param {string} folder
 * @returns {string[]}
 */
export function filesIn(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .map((path) => path.replaceAll('\\', '/'))
    .toSorted();
}

/**
 * @param {string} folder
 * @returns {Package}
 */
function read(folder) {
  const path = join(root, folder);
  /** @type {Manifest} */
  const manifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
  const entries = Object.entries(manifest.exports ?? {}).flatMap(([subpath, target]) => {
    if (typeof target === 'string' || !target['@intertie/source'] || !target.default) return [];
    const source = join(path, target['@intertie/source']);
    return [{ subpath, specifier: manifest.name + subpath.slice(1), source, file: join(path, target.default) }];
  });
  return { name: manifest.name, folder, path, manifest, entries };
}
