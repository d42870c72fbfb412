import { expect, it, onTestFinished } from 'vitest';

import { openPostgres } from '../test/databases.ts';
import { toNumberArray, toTextArray } from './array-literal.ts';

it.each<[string, Array<string | undefined>]>([
  ['nothing', []],
  ['plain ones', ['a', 'b c', '1,2', '{}', 'null', '']],
  ['with gaps', [undefined, 'NULL', undefined]],
  ['with quotes and backslashes', ['"', '\\', 'a"b\\"c', undefined, '\n']],
  ['with what JSON would escape', ['a\tb', '\u001f', undefined, 'c']],
])('a list of texts is read as it was: %s', async (_, values) => {
  const database = await openPostgres();
  onTestFinished(() => database.close());
  const rows = await database.query('select unnest($1::text[]) as value', [toTextArray(values)]);
  expect(rows.map(({ value }) => value ?? undefined)).toEqual(values);
});

it('a list of numbers is read as it was', async () => {
  const database = await openPostgres();
  onTestFinished(() => database.close());
  for (const values of [[], [1, -2, 3]]) {
    const rows = await database.query('select unnest($1::int4[]) as value', [toNumberArray(values)]);
    expect(rows.map(({ value }) => value)).toEqual(values);
  }
});
