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
// Inside the checkout, so that packages resolve as they do for a program in it: built, by their public exports.
const folder = join(root, '.intertie/documented');

/** What a command complains about, or nothing. */
const complaintsOf = (args: string[], env: NodeJS.ProcessEnv = process.env): Promise<string> =>
  run(process.execPath, args, { cwd: folder, timeout: 50_000, env }).then(
    () => '',
    (error: Error & { stdout?: string; stderr?: string }) =>
      `${error.stdout ?? ''}${error.stderr ?? ''}` || error.message,
  );

describe('the programs of the documentation', () => {
  beforeAll(() => {
    const written = writePrograms(folder);
    // What npm has put below a package instead of the root.
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

  it.each(libraries())('include one of $name', async ({ folder: home, entries }) => {
    const modules = await Promise.all(entries.map(({ source }) => import(source) as Promise<object>));
    // A package of types alone has nothing to run.
    const shown =
      modules.every((m) => Object.keys(m).length === 0) || programs().some((p) => p.page === `${home}/README.md`);
    expect(shown, `${home}/README.md shows the package in a program that runs`).toBe(true);
  });

  it('have the types that they claim', { timeout: 60_000 }, async () => {
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const complaints = await complaintsOf([tsc, '-p', '.', '--pretty', 'false']);
    expect(
      complaints,
      programs()
        .map((p) => `${p.file} is ${p.page}:${p.line}`)
        .join(', '),
    ).toBe('');
  });

  it.concurrent.each(programs().filter(({ kind }) => kind === 'shown'))(
    'run: $page:$line',
    { timeout: 60_000 },
    async ({ file }) => {
      expect(await complaintsOf([file.replace(/mts$/, 'mjs')])).toBe('');
    },
  );

  it.each(programs().filter(({ kind }) => kind === 'used'))('run: $page', { timeout: 60_000 }, async ({ file }) => {
    const env = { ...process.env, DATABASE_URL: await newPostgresUrl() };
    expect(await complaintsOf([file.replace(/mts$/, 'mjs')], env)).toBe('');
  });
});
