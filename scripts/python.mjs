// @ts-check
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { cache } from './workspace.mjs';

/**
 * Creates a virtual environment with a requirements file in the cache, once per file, and returns its Python. Returns the reason
 * if it cannot be created.
 * @param {string} requirements the file
 * @returns {{ python: string } | { missing: string }}
 */
export function pythonFor(requirements) {
  const base = findPython();
  if (!base) return { missing: 'Python 3.12 or newer is not installed (pyenv install 3.13)' };
  const hash = createHash('sha256').update(base.version).update(readFileSync(requirements));
  const place = join(cache, 'python', hash.digest('hex').slice(0, 16));
  const python = join(place, 'bin', 'python');
  const done = join(place, 'installed');
  if (existsSync(done)) return { python };
  mkdirSync(join(cache, 'python'), { recursive: true });
  rmSync(place, { recursive: true, force: true });
  // A virtual environment cannot be moved, so a marker file is written after the installation instead of a rename.
  for (const [command, ...args] of [
    [base.path, '-m', 'venv', place],
    [python, '-m', 'pip', 'install', '--quiet', '-r', requirements],
  ]) {
    const { status, stderr } = spawnSync(command ?? '', args, { encoding: 'utf8' });
    if (status === 0) continue;
    return { missing: `pip could not install ${requirements}: ${stderr.trim().split('\n').at(-1)}` };
  }
  writeFileSync(done, '');
  return { python };
}

/** @returns {{ path: string, version: string } | undefined} */
function findPython() {
  const versions = join(homedir(), '.pyenv', 'versions');
  const managed = existsSync(versions)
    ? readdirSync(versions).map((name) => join(versions, name, 'bin', 'python'))
    : [];
  for (const path of ['python3.13', 'python3.12', 'python3', ...managed.toReversed()]) {
    const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' });
    const version = /^Python (3\.(\d+)\.\d+)/.exec(stdout ?? '');
    if (version && Number(version[2]) >= 12) return { path, version: version[1] ?? '' };
  }
  return undefined;
}
