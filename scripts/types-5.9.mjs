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
// What npm has put below a package instead of the root.
for (const { folder: source, manifest } of libraries()) {
  const own = join(root, source, 'node_modules');
  if (existsSync(own)) symlinkSync(own, join(folder, 'node_modules', manifest.name, 'node_modules'), 'junction');
}

const specifiers = libraries().flatMap(({ entries }) => entries.map(({ specifier }) => specifier));
const imports = specifiers.map((specifier, i) => `import * as entry${i} from '${specifier}';\nexport { entry${i} };\n`);
writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
writeFileSync(join(folder, 'entries.ts'), imports.join(''));
for (const file of filesIn(home).filter((f) => f.endsWith('.ts') && !f.includes('/'))) {
  copyFileSync(join(home, file), join(folder, file));
}

const shown = writePrograms(join(folder, 'documented')).length;
// A program that queries the tables by itself has Drizzle as a dependency of its own.
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
  // Programs run on Node, and none of theirs has the declarations of others checked.
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
  const tsc = join(home, 'node_modules/typescript/bin/tsc');
  const { stdout } = spawnSync(process.execPath, [tsc, '-p', '.', '--pretty', 'false'], {
    cwd: folder,
    encoding: 'utf8',
  });
  const ours = complaintsAbout(stdout);
  console.log(`TypeScript 5.9: ${what} ${ours === '' ? 'are fine' : `fail\n${ours}`}`);
  failed ||= ours !== '';
}

/**
 * Without what is wrong in the declarations of others: those of `ai` and Drizzle do not stand up to these options.
 * @param {string} output
 */
function complaintsAbout(output) {
  const complaints = output.split(/\n(?=\S)/).map((complaint) => complaint.trimEnd());
  return complaints
    .filter((complaint) =>
      /^(?:node_modules\/@intertie\/[^/]+\/(?!node_modules)|documented\/[^/]+$|[^/]+$)/.test(
        complaint.split('(')[0] ?? '',
      ),
    )
    .join('\n');
}
