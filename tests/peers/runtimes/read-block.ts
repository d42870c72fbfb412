import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { root } from '../../../scripts/workspace.mjs';

/** Returns a block of a language in a page of `docs/runtimes`: the first, or the first after the name of its file. */
export function readBlock(page: string, language: string, file?: string): string {
  const text = readFileSync(join(root, 'docs/runtimes', `${page}.md`), 'utf8');
  const name = file === undefined ? '' : `^\`${file.replaceAll('.', '\\.')}\`:\n\n`;
  const block = new RegExp(`${name}^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(text)?.[1];
  if (block === undefined) throw new Error(`docs/runtimes/${page}.md has no block of ${language}.`);
  return block;
}
