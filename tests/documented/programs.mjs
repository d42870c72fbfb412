// @ts-check
// The programs that the documentation shows, and those that show how each package is meant to be used.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { libraries, root } from '../../scripts/workspace.mjs';

/**
 * `shown` stands in a page, and runs as pasted. `used` is a file of its own, around which a frame is put. A `fragment` of a
 * page takes names as given, and is compiled only.
 * @typedef {{ kind: 'shown' | 'used' | 'fragment', page: string, line: number, file: string, text: string }} Program
 */

/** What the programs of `usage` take as given. It is no program itself. */
const frame = 'frame.mts';
/** What fragments take as given. */
const names = 'names.mts';
const folderOf = { [frame]: 'tests/documented/usage', [names]: 'tests/documented' };

/** @returns {Program[]} */
export function programs() {
  const homes = [...libraries().map(({ folder }) => folder), ...foldersOf('examples')];
  const docs = ['docs', 'contributing'].flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => `${folder}/${name}`),
  );
  const pages = ['README.md', ...homes.map((folder) => `${folder}/README.md`), ...docs];
  const shown = pages.filter((page) => page.endsWith('.md') && existsSync(join(root, page))).flatMap(blocksOf);
  const usage = folderOf[frame];
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
 * Writes them into a folder where they can be compiled.
 * @param {string} folder
 * @returns {Array<{ file: string, text: string }>} the files, the frame among them
 */
export function writePrograms(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const given = Object.entries(folderOf).map(([file, from]) => ({ file, text: read(`${from}/${file}`) }));
  const files = [...given, ...programs()];
  for (const { file, text } of files) writeFileSync(join(folder, file), text);
  return files;
}

/** Blocks fenced as plain `ts` or `tsx`; one that begins with an import is a program. @param {string} page @returns {Program[]} */
function blocksOf(page) {
  const text = read(page);
  return [...text.matchAll(/^```tsx?\n(.*?)^```$/gms)].map(({ 1: block = '', index }) => {
    const line = text.slice(0, index).split('\n').length + 1;
    const kind = block.startsWith('import ') ? 'shown' : 'fragment';
    const file = `${kind}-${page.replaceAll(/\W+/g, '-')}-${line}.mts`;
    return { kind, page, line, file, text: block };
  });
}

/** @param {string} folder */
const foldersOf = (folder) => readdirSync(join(root, folder)).map((name) => `${folder}/${name}`);

/** @param {string} page */
const read = (page) => readFileSync(join(root, page), 'utf8').replaceAll('\r\n', '\n');
