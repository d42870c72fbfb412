import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it, onTestFinished } from 'vitest';

import { createPackage } from '../scripts/new-package.mjs';
import { root } from '../scripts/workspace.mjs';

/** Files that the script changes or that the new package extends. */
const copied = [
  'docs/architecture.md',
  'packages/server/package.json',
  'packages/server/tsconfig.json',
  'packages/server/src/protocols.ts',
  'packages/server/src/agent-kinds.ts',
  'tests/imports.test.ts',
  'tsconfig.base.json',
  'tsconfig.json',
];

it.each(['protocol', 'runtime'] as const)(
  'creates a package for a %s that compiles, passes its tests and is in the lists',
  { timeout: 180_000 },
  (kind) => {
    const folder = mkdtempSync(join(tmpdir(), 'intertie-new-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    for (const file of copied) cpSync(join(root, file), join(folder, file));
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    symlinkSync(join(root, 'packages/core'), join(folder, 'packages/core'));

    const files = createPackage(kind, 'magic-ink', folder);
    expect(files).toContain('packages/magic-ink/src/magic-ink-protocol.ts');
    const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
    expect(files.map(read).join('\n')).not.toMatch(/sample.?name/i);
    expect(read('packages/server/src/protocols.ts')).toMatch(
      /magicInkProtocol \} from[^]*\n {2}magicInkProtocol,\n\];/,
    );
    expect(read('packages/server/src/agent-kinds.ts').includes('  magicInkKind,\n];')).toBe(kind === 'runtime');
    expect(read('packages/server/package.json')).toContain('"@intertie/magic-ink"');

    const path = join(folder, 'packages/magic-ink');
    const run = (bin: string, ...args: string[]): void => {
      const options = { cwd: path, encoding: 'utf8' } as const;
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        [join(root, 'node_modules', bin), ...args],
        options,
      );
      expect(status, stdout + stderr).toBe(0);
    };
    run('typescript/bin/tsc', '-p', '.');
    // It references packages that are not in the copy.
    rmSync(join(folder, 'tsconfig.json'));
    run('vitest/vitest.mjs', 'run', '--root', '.');
    expect(() => createPackage(kind, 'magic-ink', folder)).toThrow('packages/magic-ink exists');
  },
);
