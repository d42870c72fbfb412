import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { transformSync } from 'rolldown/utils';
import { beforeAll, describe, expect, it } from 'vitest';

import { newPostgresUrl } from '../packages/postgres/test/databases.ts';
import { libraries, root } from '../scripts/workspace.mjs';
import { programs, writePrograms } from './documented/programs.mjs';

const run = promisify(execFile);
// Inside the checkout, so that packages resolve to their built public exports.
const folder = join(root, '.intertie/documented');

/** Returns the output of a command that fails, or an empty string. */
const runForErrors = (args: string[], env: NodeJS.ProcessEnv = process.env): Promise<string> =>
  run(process.execPath, args, { cwd: folder, timeout: 50_000, env }).then(
    () => '',
    (error: Error & { stdout?: string; stderr?: string }) =>
      `${error.stdout ?? ''}${error.stderr ?? ''}` || error.message,
  );

describe('the programs of the documentation', () => {
  beforeAll(() => {
    const written = writePrograms(folder);
    // npm installs this dependency below its package, not in the root.
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(join(root, 'packages/postgres/node_modules/drizzle-orm'), join(folder, 'node_modules/drizzle-orm'));
    const compilerOptions = { module: 'nodenext', target: 'es2022', lib: ['es2023', 'dom', 'dom.iterable'] };
    const strict = { strict: true, noEmit: true, types: ['node'], verbatimModuleSyntax: true, skipLibCheck: true };
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: { ...compilerOptions, ...strict } }),
    );
    for (const { file, text } of written) {
      writeFileSync(join(folder, file.replace(/mts$/, 'mjs')), transformSync(file, text).code);
    }
  });

  it.each(libraries())('includes a program of $name', async ({ folder: packageFolder, entries }) => {
    const modules = await Promise.all(entries.map(({ source }) => import(source) as Promise<object>));
    const page = `${packageFolder}/README.md`;
    // A package with types only has nothing to run.
    const isShown = modules.every((m) => Object.keys(m).length === 0) || programs().some((p) => p.page === page);
    expect(isShown, `${page} has a program that runs`).toBe(true);
  });

  it('compiles every program without type errors', { timeout: 60_000 }, async () => {
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const errors = await runForErrors([tsc, '-p', '.', '--pretty', 'false']);
    expect(
      errors,
      programs()
        .map((p) => `${p.file} is ${p.page}:${p.line}`)
        .join(', '),
    ).toBe('');
  });

  it.concurrent.each(programs().filter(({ kind }) => kind === 'shown'))(
    'runs $page:$line',
    { timeout: 60_000 },
    async ({ file }) => {
      expect(await runForErrors([file.replace(/mts$/, 'mjs')])).toBe('');
    },
  );

  it.each(programs().filter(({ kind }) => kind === 'used'))('runs $page', { timeout: 60_000 }, async ({ file }) => {
    const env = { ...process.env, DATABASE_URL: await newPostgresUrl() };
    expect(await runForErrors([file.replace(/mts$/, 'mjs')], env)).toBe('');
  });
});
