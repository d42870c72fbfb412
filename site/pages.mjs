// @ts-check
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

import { filesIn, libraries, root } from '../scripts/workspace.mjs';

/** Folder of the generated pages, which VitePress reads. */
const pagesFolder = fileURLToPath(new URL('.intertie/pages', import.meta.url));

/**
 * Returns the pages of the site: path in the repository to path on the site.
 * @returns {Map<string, string>}
 */
export function listPages() {
  const docs = filesIn(join(root, 'docs')).filter((file) => file.endsWith('.md'));
  const contributing = readdirSync(join(root, 'contributing')).filter((file) => file.endsWith('.md'));
  const examples = readdirSync(join(root, 'examples')).filter((name) => isFile(`examples/${name}/README.md`));
  const toIndex = (/** @type {string} */ file) => file.replace(/README\.md$/, 'index.md');
  return new Map([
    ...docs.map((file) => pair(`docs/${file}`, file === 'README.md' ? 'overview.md' : toIndex(file))),
    ...contributing.map((file) => pair(`contributing/${file}`, `contributing/${toIndex(file)}`)),
    ...libraries().map(({ folder }) => pair(`${folder}/README.md`, `${folder}.md`)),
    ...examples.map((name) => pair(`examples/${name}/README.md`, `examples/${name}.md`)),
  ]);
}

/** Writes all pages with the links that they need on the site. */
export function writePages() {
  rmSync(pagesFolder, { recursive: true, force: true });
  mkdirSync(join(pagesFolder, 'public'), { recursive: true });
  cpSync(join(root, 'docs/images'), join(pagesFolder, 'public/images'), { recursive: true });
  cpSync(join(root, 'site/home.md'), join(pagesFolder, 'index.md'));
  const pages = listPages();
  for (const [file, page] of pages) {
    const target = join(pagesFolder, page);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, rewriteLinks(readFileSync(join(root, file), 'utf8'), file, pages));
  }
}

/**
 * Replaces links between files of the repository by links between pages. A link to a file without a page leads to the
 * code host, or becomes plain text if the manifest names none.
 * @param {string} text
 * @param {string} file path of the page in the repository
 * @param {Map<string, string>} pages
 */
function rewriteLinks(text, file, pages) {
  const resolve = (/** @type {string} */ href) => toSiteLink(href, file, pages);
  return outsideOfCode(text, (prose) =>
    prose
      .replaceAll(/\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g, (_, label, href) => {
        const target = resolve(href);
        return target === undefined ? label : `[${label}](${target})`;
      })
      .replaceAll(/^(\[[^\]]+\]): (\S+)$/gm, (_, label, href) => `${label}: ${resolve(href) ?? '#'}`)
      .replaceAll(/\b(src|srcset)="([^"]+)"/g, (_, name, href) => `${name}="${resolve(href) ?? href}"`),
  );
}

/**
 * @param {string} href
 * @param {string} file
 * @param {Map<string, string>} pages
 * @returns {string | undefined}
 */
function toSiteLink(href, file, pages) {
  if (/^(?:\w+:|#)/.test(href)) return href;
  const [path = '', anchor] = href.split('#');
  const target = posix.normalize(posix.join(posix.dirname(file), path)).replace(/\/$/, '');
  if (target.startsWith('docs/images/')) return `/${target.slice('docs/'.length)}`;
  const page = pages.get(target) ?? pages.get(`${target}/README.md`);
  const suffix = anchor === undefined ? '' : `#${anchor}`;
  if (page !== undefined) return `/${page}${suffix}`;
  const repository = readRepository();
  return repository && `${repository}/${isFile(target) ? 'blob' : 'tree'}/main/${target}${suffix}`;
}

/** Returns the address of the repository on its code host, if the manifest has one. */
function readRepository() {
  const manifest = JSON.parse(readFileSync(join(root, 'packages/server/package.json'), 'utf8'));
  const url = manifest.repository?.url ?? manifest.repository;
  return typeof url === 'string' ? url.replace(/^git\+/, '').replace(/\.git$/, '') : undefined;
}

/**
 * Applies a change to the text outside of fenced code blocks.
 * @param {string} text
 * @param {(prose: string) => string} change
 */
function outsideOfCode(text, change) {
  return text
    .split(/(^```.*?^```$)/ms)
    .map((part, index) => (index % 2 === 1 ? part : change(part)))
    .join('');
}

/** @param {string} path */
const isFile = (path) => existsSync(join(root, path)) && statSync(join(root, path)).isFile();

/** @type {(file: string, page: string) => [string, string]} */
const pair = (file, page) => [file, page];
