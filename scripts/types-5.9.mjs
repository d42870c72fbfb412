// @ts-check
// Compiles tests/types-5.9/*.ts, and an import of every entry, against the packed declarations with TypeScript 5.9.
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { install } from './install.mjs';
import { pack } from './pack.mjs';
import { filesIn, libraries, root } from './workspace.mjs';

const home = join(root, 'tests/types-5.9');
install('tests/types-5.9');

// Below the root, so that what our packages depend on is found there; our own are nearer, as they are packed.
const folder = join(root, '.intertie/types-5.9');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const { name, archive } of pack(folder)) {
  const target = join(folder, 'node_modules', name);
  mkdirSync(target, { recursive: true });
  execFileSync('tar', ['-xzf', archive, '-C', target, '--strip-components=1']);
}

// Drizzle's own declarations fail the check of libraries, so that nobody who uses them has it on.
const strict = libraries().filter(({ manifest }) => !manifest.dependencies?.['drizzle-orm']);
const lenient = libraries().filter((library) => !strict.includes(library));
writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
for (const [name, list] of Object.entries({ strict, lenient })) {
  const specifiers = list.flatMap(({ entries }) => entries.map(({ specifier }) => specifier));
  const lines = specifiers.map((specifier, i) => `import * as entry${i} from '${specifier}';\nexport { entry${i} };\n`);
  writeFileSync(join(folder, `entries-${name}.ts`), lines.join(''));
}
const programs = filesIn(home).filter((f) => f.endsWith('.ts') && !f.includes('/'));
for (const file of programs) copyFileSync(join(home, file), join(folder, file));

let failed = false;
for (const [name, resolution] of Object.entries({
  nodenext: { module: 'nodenext', moduleResolution: 'nodenext' },
  bundler: { module: 'esnext', moduleResolution: 'bundler' },
})) {
  check(`${name}-strict`, { ...resolution, skipLibCheck: false }, ['entries-strict.ts', ...programs]);
  check(`${name}-lenient`, { ...resolution, skipLibCheck: true }, ['entries-lenient.ts']);
}
process.exitCode = failed ? 1 : 0;

/**
 * @param {string} name
 * @param {object} options
 * @param {string[]} files
 */
function check(name, options, files) {
  const compilerOptions = {
    ...options,
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable', 'dom.asynciterable'],
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
  };
  writeFileSync(join(folder, `tsconfig.${name}.json`), JSON.stringify({ compilerOptions, files }));
  const tsc = join(home, 'node_modules/typescript/bin/tsc');
  const { status } = spawnSync(process.execPath, [tsc, '-p', `tsconfig.${name}.json`], {
    cwd: folder,
    stdio: 'inherit',
  });
  console.log(`TypeScript 5.9, ${name}: ${status === 0 ? 'fine' : 'fails'}`);
  failed ||= status !== 0;
}
