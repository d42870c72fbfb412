// @ts-check
// Collects the programs in the documentation, and the usage programs of each package.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { libraries, root } from '../../scripts/workspace.mjs';

/**
 * `shown` is part of a page and runs as pasted. `used` is a separate file that imports the frame. A `fragment` of a page uses
 * names that it does not declare, and is only compiled.
 * @typedef {{ kind: 'shown' | 'used' | 'fragment', page: string, line: number, file: string, text: string }} Program
 */

/** Setup of the programs in `usage`. It is not a program itself. */
const frame = 'frame.mts';
/** Declarations for fragments. */
const names = 'names.mts';
const setupFolders = { [frame]: 'tests/documented/usage', [names]: 'tests/documented' };

/** @returns {Program[]} */
export function programs() {
  const folders = [...libraries().map(({ folder }) => folder), ...listFolders('examples')];
  const docs = ['docs', 'docs/clients', 'docs/runtimes', 'contributing'].flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => `${folder}/${name}`),
  );
  const pages = ['README.md', ...folders.map((folder) => `${folder}/README.md`), ...docs];
  const shown = pages.filter((page) => page.endsWith('.md') && existsSync(join(root, page))).flatMap(readBlocks);
  const usage = setupFolders[frame];
  const used = readdirSync(join(root, usage))
    .filter((file) => file !== frame)
    .map((file) => ({
      kind: /** @type {const} */ ('used'),
      page: `${usage}/${file}`,
      line: 1,
      file,
      text: read(`${usage}/${file}`),
    }));
  return [...shown, ...used];
}

/**
 * Writes the programs into a folder where they can be compiled.
 * @param {string} folder
 * @returns {Array<{ file: string, text: string }>} the files, including the frame
 */
export function writePrograms(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const given = Object.entries(setupFolders).map(([file, from]) => ({ file, text: read(`${from}/${file}`) }));
  const files = [...given, ...programs()];
  for (const { file, text } of files) writeFileSync(join(folder, file), text);
  return files;
}

/** Reads blocks fenced as `ts` or `tsx`. A block that begins with an import is a program. @param {string} page @returns {Program[]} */
function readBlocks(page) {
  const text = read(page);
  return [...text.matchAll(/^```tsx?\n(.*?)^```$/gms)].map(({ 1: block = '', index }) => {
    const line = text.slice(0, index).split('\n').length + 1;
    const kind = block.startsWith('import ') ? 'shown' : 'fragment';
    const file = `${kind}-${page.replaceAll(/\W+/g, '-')}-${line}.mts`;
    return { kind, page, line, file, text: block };
  });
}

/** @param {string} folder */
const listFolders = (folder) => readdirSync(join(root, folder)).map((name) => `${folder}/${name}`);

/** @param {string} page */
const read = (page) => readFileSync(join(root, page), 'utf8').replaceAll('\r\n', '\n');
