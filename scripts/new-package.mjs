// @ts-check
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { filesIn, root } from './workspace.mjs';

/**
 * Creates `packages/<name>` from contributing/templates, and adds it to the lists of the server and of the workspace.
 * @param {'protocol' | 'runtime'} kind
 * @param {string} name Lower case, words separated by dashes.
 * @param {string} [target] Root of the tree to change. Default: this one.
 * @returns {string[]} Paths of the created and changed files.
 */
export function createPackage(kind, name, target = root) {
  if (!/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(name)) throw new Error(`The name "${name}" is not like "my-protocol".`);
  const folder = `packages/${name}`;
  if (existsSync(join(target, folder))) throw new Error(`${folder} exists.`);
  const pascal = name.replaceAll(/(?:^|-)(\w)/g, (_, letter) => letter.toUpperCase());
  const camel = pascal[0]?.toLowerCase() + pascal.slice(1);
  const title = name.replaceAll(/(^|-)(\w)/g, (_, dash, letter) => (dash && ' ') + letter.toUpperCase());
  /** @param {string} text */
  const rename = (text) =>
    text
      .replaceAll('sample-name', name)
      .replaceAll('sampleName', camel)
      .replaceAll('SampleName', pascal)
      .replaceAll('Sample Name', title)
      .replaceAll('SAMPLE_NAME', name.replaceAll('-', '_').toUpperCase());
  /** @type {string[]} */
  const written = [];
  /** @type {(path: string, text: string) => void} */
  const write = (path, text) => {
    mkdirSync(dirname(join(target, path)), { recursive: true });
    writeFileSync(join(target, path), text);
    written.push(path);
  };
  for (const part of kind === 'runtime' ? ['protocol', 'runtime'] : ['protocol']) {
    const templates = join(root, 'contributing/templates', part);
    for (const file of filesIn(templates)) {
      // Under its own name, editors would read it in the folder of the template.
      const path = rename(file).replace('tsconfig.template', 'tsconfig');
      write(`${folder}/${path}`, rename(readFileSync(join(templates, file), 'utf8')));
    }
  }
  /** @type {(path: string, ...changes: Array<[before: string | RegExp, after: string]>) => void} */
  const change = (path, ...changes) => {
    let text = readFileSync(join(target, path), 'utf8');
    for (const [before, after] of changes) {
      const changed = text.replace(before, after);
      if (changed === text) throw new Error(`${path} has no place for ${rename('sample-name')}: ${String(before)}`);
      text = changed;
    }
    write(path, text);
  };

  const from = `from '@intertie/${name}';`;
  change(
    'packages/server/src/protocols.ts',
    [/\n\n/, `\nimport { ${camel}Protocol } ${from}\n\n`],
    [/\n\];/, `\n  ${camel}Protocol,\n];`],
  );
  if (kind === 'runtime') {
    const exported = `${camel}, ${camel}Kind, type ${pascal}AgentOptions`;
    change(`${folder}/src/index.ts`, [/$/, `export { ${exported} } from './${name}-kind.ts';\n`]);
    change(
      'packages/server/src/agent-kinds.ts',
      [
        /\n\nexport/,
        `\nimport { ${camel}Kind } ${from}\n\nexport { ${camel}, type ${pascal}AgentOptions } ${from}\nexport`,
      ],
      [/\n\];/, `\n  ${camel}Kind,\n];`],
    );
  }
  change('packages/server/package.json', [
    /("@intertie\/postgres": "[^"]*",)/,
    `"@intertie/${name}": "^0.1.0",\n    $1`,
  ]);
  change('packages/server/tsconfig.json', [/(\{ "path": "\.\.\/postgres" \})/, `{ "path": "../${name}" },\n    $1`]);
  change('tsconfig.json', [
    /(\{\s*"path": "packages\/postgres"\s*\})/,
    `{\n      "path": "packages/${name}"\n    },\n    $1`,
  ]);
  change('tests/imports.test.ts', [/(\n {2}conformance: \{)/, `\n  '${name}': { imports: ['core'] },$1`]);
  change('docs/architecture.md', [/(\n\| `postgres` )/, `\n| \`${name}\` | ${title} streams | core |$1`]);
  return [...new Set(written)];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [kind, name] = process.argv.slice(2);
  if ((kind !== 'protocol' && kind !== 'runtime') || !name) {
    console.error('Usage: npm run new:protocol <name>, or npm run new:runtime <name>');
    process.exit(2);
  }
  for (const path of createPackage(kind, name)) console.log(`  ${path}`);
  console.log(
    '\nNext: npm install && npm run format && npm test. Then replace the sample codecs: contributing/README.md',
  );
}
