import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { root } from '../../../scripts/workspace.mjs';

/** Returns the first block of a language in a page of `docs/runtimes`. */
export function readBlock(page: string, language: string): string {
  const text = readFileSync(join(root, 'docs/runtimes', `${page}.md`), 'utf8');
  const block = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(text)?.[1];
  if (block === undefined) throw new Error(`docs/runtimes/${page}.md has no block of ${language}.`);
  return block;
}
