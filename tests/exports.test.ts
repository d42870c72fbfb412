import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { parseSync } from 'rolldown/utils';
import { describe, expect, it } from 'vitest';

import { libraries } from '../scripts/workspace.mjs';

/** What a module exports by name, and whether it says that the name is a type. `export *` is followed. */
function exportsOf(file: string): Array<{ name: string; isType: boolean }> {
  const { module, errors } = parseSync(file, readFileSync(file, 'utf8'));
  expect(errors).toEqual([]);
  return module.staticExports
    .flatMap((statement) => statement.entries)
    .flatMap(({ exportName, moduleRequest, isType }) => {
      if (exportName.kind === 'Default') return [{ name: 'default', isType }];
      if (exportName.name) return [{ name: exportName.name, isType }];
      if (!moduleRequest) return [];
      // What another package exports belongs to its version, not to this list.
      if (!moduleRequest.value.startsWith('.')) return [{ name: `* from ${moduleRequest.value}`, isType }];
      const below = exportsOf(join(dirname(file), moduleRequest.value)).filter(({ name }) => name !== 'default');
      return isType ? below.map(({ name }) => ({ name, isType: true })) : below;
    });
}

const sorted = (names: Iterable<string>): string[] => [...new Set(names)].toSorted((a, b) => (a < b ? -1 : 1));

// A changed list is a changed promise. If it is meant: `npx vitest run tests/exports.test.ts -u`, and a changeset.
describe.each(libraries())('the exports of $name', ({ name, folder, entries }) => {
  it('are those of the list', async () => {
    const lines: string[] = [];
    for (const { specifier, source } of entries) {
      const module = (await import(source)) as Record<string, unknown>;
      const values = sorted(Object.keys(module));
      const found = exportsOf(source);
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
