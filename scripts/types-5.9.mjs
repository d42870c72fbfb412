// @ts-check
// Compiles tests/types-5.9/*.ts, and an import of every entry, against the packed declarations with TypeScript 5.9.
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
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
  writeFileSync(join(folder, `tsconfig.${name}.json`), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  const tsc = join(home, 'node_modules/typescript/bin/tsc');
  const { stdout } = spawnSync(process.execPath, [tsc, '-p', `tsconfig.${name}.json`, '--pretty', 'false'], {
    cwd: folder,
    encoding: 'utf8',
  });
  const ours = complaintsAbout(stdout);
  console.log(`TypeScript 5.9, ${name}: ${specifiers.length} entries ${ours === '' ? 'are fine' : `fail\n${ours}`}`);
  failed ||= ours !== '';
}
process.exitCode = failed ? 1 : 0;

/**
 * Without what is wrong in the declarations of others: those of `ai` and Drizzle do not stand up to these options.
 * @param {string} output
 */
function complaintsAbout(output) {
  const complaints = output.split(/\n(?=\S)/).map((complaint) => complaint.trimEnd());
  return complaints
    .filter((complaint) =>
      /^(?:node_modules\/@intertie\/[^/]+\/(?!node_modules)|[^/]+$)/.test(complaint.split('(')[0] ?? ''),
    )
    .join('\n');
}
