import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { transformSync } from 'rolldown/utils';
import { beforeAll, describe, expect, it } from 'vitest';

import { libraries, root } from '../scripts/workspace.mjs';

const run = promisify(execFile);
// Inside the checkout, so that packages resolve as they do for a program in it: built, by their public exports.
const folder = join(root, '.intertie/readmes');

/** The programs of a page: blocks fenced as plain `ts` that import something. Others are fragments. */
function programsOf(page: string): Array<{ page: string; line: number; text: string }> {
  const programs = [];
  const text = readFileSync(join(root, page), 'utf8').replaceAll('\r\n', '\n');
  for (const match of text.matchAll(/^```ts\n(.*?)^```$/gms)) {
    if (!/^import\s/m.test(match[1]!)) continue;
    programs.push({ page, line: text.slice(0, match.index).split('\n').length + 1, text: match[1]! });
  }
  return programs;
}

const docs = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
const pages = [
  'README.md',
  ...libraries().map((p) => `${p.folder}/README.md`),
  ...docs.map((name) => `docs/${name}`),
].filter((p) => existsSync(join(root, p)));
const programs = pages
  .flatMap(programsOf)
  .map((program, index) => ({ ...program, file: `${index + 1}-line-${program.line}.ts` }));

/** What a command complains about, or nothing. */
const complaintsOf = (...args: string[]): Promise<string> =>
  run(process.execPath, args, { cwd: folder, timeout: 50_000 }).then(
    () => '',
    (error: Error & { stdout?: string; stderr?: string }) =>
      `${error.stdout ?? ''}${error.stderr ?? ''}` || error.message,
  );

describe('the programs of the documentation', () => {
  beforeAll(() => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const compilerOptions = { module: 'nodenext', target: 'es2022', lib: ['es2023', 'dom', 'dom.iterable'] };
    const strict = { strict: true, noEmit: true, types: ['node'], verbatimModuleSyntax: true, skipLibCheck: true };
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: { ...compilerOptions, ...strict } }),
    );
    for (const { file, text } of programs) {
      writeFileSync(join(folder, file), text);
      writeFileSync(join(folder, file.replace(/ts$/, 'mjs')), transformSync(file, text).code);
    }
  });

  it.each(libraries())('include one of $name', async ({ folder: home, entries }) => {
    const modules = await Promise.all(entries.map(({ source }) => import(source) as Promise<object>));
    // A package of types alone has nothing to run.
    const shown =
      modules.every((m) => Object.keys(m).length === 0) || programs.some((p) => p.page === `${home}/README.md`);
    expect(shown, `${home}/README.md shows the package in a program that runs`).toBe(true);
  });

  it('have the types that they claim', { timeout: 60_000 }, async () => {
    const complaints = await complaintsOf(
      join(root, 'node_modules/typescript/bin/tsc'),
      '-p',
      '.',
      '--pretty',
      'false',
    );
    expect(complaints, programs.map((p) => `${p.file} is ${p.page}:${p.line}`).join(', ')).toBe('');
  });

  it.each(programs)('run: $page:$line', { timeout: 60_000 }, async ({ file }) => {
    expect(await complaintsOf(file.replace(/ts$/, 'mjs'))).toBe('');
  });
});
