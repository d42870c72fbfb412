import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { root } from '../scripts/workspace.mjs';

const read = (file: string): string => readFileSync(join(root, file), 'utf8');

/** Rows of docs/guarantees.md: promise, `name` in [file](link), "test" in [file](link). */
const row =
  /^\| (?<promise>[^|]+?) +\| `(?<name>[^`]+)` in \[[^\]]+\]\(\.\.\/(?<source>[^)]+)\) +\| “(?<test>[^”]+)” in \[[^\]]+\]\(\.\.\/(?<file>[^)]+)\) +\|$/gm;
const page = read('docs/guarantees.md');
const rows = [...page.matchAll(row)].map(
  ({ groups }) => groups as Record<'promise' | 'name' | 'source' | 'test' | 'file', string>,
);

describe('docs/guarantees.md', () => {
  it('lists every guarantee of the README', () => {
    const section = /^## Guarantees\n(.*?)^## /ms.exec(read('README.md'))?.[1] ?? '';
    const promised = [...section.matchAll(/^- \*\*(.+?)\.\*\*/gm)].map(([, title]) => title);
    expect(promised.length).toBeGreaterThan(3);
    expect([...page.matchAll(/^## (.+)$/gm)].map(([, title]) => title)).toEqual(promised);
  });

  it('has no table row that the checks below cannot read', () => {
    const cells = page.split('\n').filter((line) => line.startsWith('| ') && !/^\| (promise|-)/.test(line));
    expect(rows).toHaveLength(cells.length);
  });

  it.each(rows)('names existing code and an existing test: $promise', ({ name, source, test, file }) => {
    expect(existsSync(join(root, source)), source).toBe(true);
    expect(read(source)).toMatch(new RegExp(`(?<![\\w$])${name.replaceAll(/[$#]/g, String.raw`\$&`)}(?![\\w$])`));
    expect(read(file)).toContain(test);
  });
});
