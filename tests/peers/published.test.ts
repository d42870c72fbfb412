import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { filesIn, root } from '../../scripts/workspace.mjs';
import { startRegistry, type Registry } from './registry.ts';

const run = promisify(execFile);
const base = mkdtempSync(join(tmpdir(), 'intertie-published-'));
let registry: Registry;

// Everything below is installed from this registry only, in empty folders.
beforeAll(async () => {
  registry = await startRegistry(newFolder('registry'));
}, 300_000);
afterAll(async () => {
  await registry?.stop();
  rmSync(base, { recursive: true, force: true, maxRetries: 10 });
});

function newFolder(name: string): string {
  const folder = join(base, name);
  mkdirSync(folder);
  return folder;
}

async function npm(cwd: string, ...args: string[]): Promise<string> {
  const { stdout } = await run('npm', args, { cwd, env: registry.env, maxBuffer: 2 ** 26 });
  return stdout;
}

async function runProgram(cwd: string, program: string): Promise<string> {
  writeFileSync(join(cwd, 'program.mjs'), program);
  const { stdout, stderr } = await run(process.execPath, ['program.mjs'], { cwd });
  expect(stderr).toBe('');
  return stdout;
}

describe('packages of a registry, installed in empty folders', () => {
  // The archives of the package and its dependencies. Its peer `ai` is not counted: applications have it.
  it('downloads less than 2 MB for @intertie/mail', async () => {
    const folder = newFolder('mail-alone');
    await npm(folder, 'install', '@intertie/mail', '--omit=peer');
    const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as {
      packages: { [path: string]: { resolved?: string; peer?: boolean } };
    };
    const archives = Object.values(lock.packages).flatMap(({ resolved, peer }) =>
      resolved && !peer ? [resolved] : [],
    );
    const sizes = await Promise.all(archives.map(async (url) => (await (await fetch(url)).arrayBuffer()).byteLength));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    const modules = join(folder, 'node_modules');
    const unpacked = filesIn(modules).reduce((sum, file) => sum + statSync(join(modules, file)).size, 0);
    const inMegabytes = (size: number): string => `${(size / 1e6).toFixed(2)} MB`;
    console.log(`@intertie/mail: ${sizes.length} archives of ${inMegabytes(bytes)}, ${inMegabytes(unpacked)} unpacked`);
    expect(existsSync(join(modules, 'ai'))).toBe(false);
    expect(bytes).toBeLessThan(2_000_000);
  });

  it('answers with a swarm after npm install @intertie/mail ai', async () => {
    const folder = newFolder('mail');
    await npm(folder, 'install', '@intertie/mail', 'ai');
    const [, , program] = /^## MAIL 1\.3 server(.*?)^```ts.*?\n(.*?)^```/ms.exec(
      readFileSync(join(root, 'docs/quick-start.md'), 'utf8'),
    )!;
    expect(await runProgram(folder, program!)).toMatch(/things happened in the swarm/);
  });

  it('names PGlite when a store in a folder needs it', async () => {
    const folder = newFolder('postgres');
    await npm(folder, 'install', '@intertie/postgres');
    const opened = `import { createStore } from '@intertie/postgres';
      await createStore('./data').catch(({ message }) => console.log(message));`;
    expect(await runProgram(folder, opened)).toBe(
      'PGlite is not installed. Run `npm install @electric-sql/pglite`, or set DATABASE_URL to a Postgres server.\n',
    );
    const drizzle = `import { createStore } from '@intertie/postgres';
      const db = { execute: async () => [], transaction: async () => undefined };
      await createStore({ db }).catch(({ message }) => console.log(message));`;
    expect(await runProgram(folder, drizzle)).toBe('Drizzle is not installed. Run `npm install drizzle-orm`.\n');
  });
});
