// @ts-check
import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

import { filesIn } from '../scripts/workspace.mjs';

/**
 * Returns the links of a built site that lead to a missing page, file or heading.
 * @param {string} folder
 * @returns {string[]} each as `page: link`
 */
export function checkLinks(folder) {
  const pages = new Map(
    filesIn(folder)
      .filter((file) => file.endsWith('.html'))
      .map((file) => [file, readFileSync(join(folder, file), 'utf8')]),
  );
  /** @type {Map<string, Set<string>>} */
  const ids = new Map([...pages].map(([file, html]) => [file, readValues(html, /\sid="([^"]+)"/g)]));
  return [...pages].flatMap(([file, html]) =>
    [...readValues(html, /\s(?:href|src|srcset)="([^"]+)"/g)]
      .filter((link) => !/^(?:\w+:|\/\/)/.test(link))
      .filter((link) => !exists(link, file))
      .map((link) => `${file}: ${link}`),
  );

  /** @type {(link: string, from: string) => boolean} */
  function exists(link, from) {
    const [path = '', anchor] = decodeURI(link.replaceAll('&amp;', '&')).split('#');
    const target =
      path === '' ? from : posix.join(path.startsWith('/') ? '' : posix.dirname(from), path).replace(/^\//, '');
    const page = [target, `${target}.html`, posix.join(target, 'index.html')].find((name) => pages.has(name));
    if (page === undefined) return existsSync(join(folder, target));
    return !anchor || ids.get(page)?.has(anchor) === true;
  }
}

/** @type {(html: string, pattern: RegExp) => Set<string>} */
const readValues = (html, pattern) => new Set([...html.matchAll(pattern)].map(([, value = '']) => value));
