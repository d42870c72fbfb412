// @ts-check
// Compiles tests/types-5.9/*.ts, an import of every entry, and the programs of the documentation against the packed
// declarations with TypeScript 5.9.
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { writePrograms } from '../tests/documented/programs.mjs';
import { install } from './install.mjs';
import { pack } from './pack.mjs';
import { filesIn, libraries, root } from './workspace.mjs';

const tests = join(root, 'tests/types-5.9');
install('tests/types-5.9');

// Below the root, so that dependencies resolve from there, and our packages from their archives.
const folder = join(root, '.intertie/types-5.9');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const { name, archive } of pack(folder)) {
  const target = join(folder, 'node_modules', name);
  mkdirSync(target, { recursive: true });
  execFileSync('tar', ['-xzf', archive, '-C', target, '--strip-components=1']);
}
// npm installs some dependencies below their package, not in the root.
for (const { folder: source, manifest } of libraries()) {
  const own = join(root, source, 'node_modules');
  if (existsSync(own)) symlinkSync(own, join(folder, 'node_modules', manifest.name, 'node_modules'), 'junction');
}

const specifiers = libraries().flatMap(({ entries }) => entries.map(({ specifier }) => specifier));
const imports = specifiers.map((specifier, i) => `import * as entry${i} from '${specifier}';\nexport { entry${i} };\n`);
writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
writeFileSync(join(folder, 'entries.ts'), imports.join(''));
for (const file of filesIn(tests).filter((f) => f.endsWith('.ts') && !f.includes('/'))) {
  copyFileSync(join(tests, file), join(folder, file));
}

const shown = writePrograms(join(folder, 'documented')).length;
// Documented programs that query the tables depend on Drizzle themselves.
symlinkSync(
  join(root, 'packages/postgres/node_modules/drizzle-orm'),
  join(folder, 'node_modules/drizzle-orm'),
  'junction',
);

let failed = false;
for (const [name, resolution] of Object.entries({
  nodenext: { module: 'nodenext', moduleResolution: 'nodenext' },
  bundler: { module: 'esnext', moduleResolution: 'bundler' },
})) {
  const compilerOptions = {
    ...resolution,
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable', 'dom.asynciterable'],
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    noEmit: true,
  };
  compile(`${specifiers.length} entries, ${name}`, { compilerOptions, include: ['*.ts'] });
  // Documented programs run on Node.js, and do not check the declarations of dependencies.
  const program = {
    ...compilerOptions,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
    skipLibCheck: true,
  };
  compile(`${shown} documented programs, ${name}`, { compilerOptions: program, include: ['documented/*.mts'] });
}
process.exitCode = failed ? 1 : 0;

/** @param {string} what @param {object} config */
function compile(what, config) {
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const tsc = join(tests, 'node_modules/typescript/bin/tsc');
  const { stdout } = spawnSync(process.execPath, [tsc, '-p', '.', '--pretty', 'false'], {
    cwd: folder,
    encoding: 'utf8',
  });
  const errors = selectOwnErrors(stdout);
  console.log(`TypeScript 5.9: ${what}: ${errors === '' ? 'ok' : `failed\n${errors}`}`);
  failed ||= errors !== '';
}

/**
 * Omits errors in the declarations of dependencies: those of `ai` and Drizzle fail under these options.
 * @param {string} output
 */
function selectOwnErrors(output) {
  const errors = output.split(/\n(?=\S)/).map((error) => error.trimEnd());
  return errors
    .filter((error) =>
      /^(?:node_modules\/@intertie\/[^/]+\/(?!node_modules)|documented\/[^/]+$|[^/]+$)/.test(error.split('(')[0] ?? ''),
    )
    .join('\n');
}
