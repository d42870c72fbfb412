import { expect, it, onTestFinished } from 'vitest';

import { openPostgres } from '../test/databases.ts';
import { toNumberArray, toTextArray } from './array-literal.ts';

it.each<[string, Array<string | undefined>]>([
  ['empty', []],
  ['plain', ['a', 'b c', '1,2', '{}', 'null', '']],
  ['with nulls', [undefined, 'NULL', undefined]],
  ['with quotes and backslashes', ['"', '\\', 'a"b\\"c', undefined, '\n']],
  ['with characters that JSON escapes', ['a\tb', '\u001f', undefined, 'c']],
])('round-trips an array of texts: %s', async (_, values) => {
  const database = await openPostgres();
  onTestFinished(() => database.close());
  const rows = await database.query('select unnest($1::text[]) as value', [toTextArray(values)]);
  expect(rows.map(({ value }) => value ?? undefined)).toEqual(values);
});

it('round-trips an array of numbers', async () => {
  const database = await openPostgres();
  onTestFinished(() => database.close());
  for (const values of [[], [1, -2, 3]]) {
    const rows = await database.query('select unnest($1::int4[]) as value', [toNumberArray(values)]);
    expect(rows.map(({ value }) => value)).toEqual(values);
  }
});
