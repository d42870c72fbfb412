import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { parseSync } from 'rolldown/utils';
import { describe, expect, it } from 'vitest';

import { libraries } from '../scripts/workspace.mjs';

/** Returns the exported names of a module, and whether each is marked as a type. Follows `export *`. */
function readExports(file: string): Array<{ name: string; isType: boolean }> {
  const { module, errors } = parseSync(file, readFileSync(file, 'utf8'));
  expect(errors).toEqual([]);
  return module.staticExports
    .flatMap((statement) => statement.entries)
    .flatMap(({ exportName, moduleRequest, isType }) => {
      if (exportName.kind === 'Default') return [{ name: 'default', isType }];
      if (exportName.name) return [{ name: exportName.name, isType }];
      if (!moduleRequest) return [];
      // Exports of another package are covered by its own list.
      if (!moduleRequest.value.startsWith('.')) return [{ name: `* from ${moduleRequest.value}`, isType }];
      const below = readExports(join(dirname(file), moduleRequest.value)).filter(({ name }) => name !== 'default');
      return isType ? below.map(({ name }) => ({ name, isType: true })) : below;
    });
}

const sorted = (names: Iterable<string>): string[] => [...new Set(names)].toSorted((a, b) => (a < b ? -1 : 1));

// A changed list is a changed public API. Update it with `npx vitest run tests/exports.test.ts -u`, and add a changeset.
describe.each(libraries())('the exports of $name', ({ name, folder, entries }) => {
  it('matches the list in tests/exports', async () => {
    const lines: string[] = [];
    for (const { specifier, source } of entries) {
      const module = (await import(source)) as Record<string, unknown>;
      const values = sorted(Object.keys(module));
      const found = readExports(source);
      const types = sorted(found.filter((e) => e.isType || !(e.name in module)).map((e) => e.name));
      expect(
        values.filter((value) => !found.some((e) => e.name === value)),
        'values that no export statement names',
      ).toEqual([]);
      lines.push(specifier, ...values.map((v) => `  value ${v}`), ...types.map((t) => `  type  ${t}`), '');
    }
    await expect(lines.join('\n')).toMatchFileSnapshot(`exports/${folder.split('/')[1]}.txt`, name);
  });
});
