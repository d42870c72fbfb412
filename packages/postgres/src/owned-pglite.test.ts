import { afterAll, beforeAll, expect, it } from 'vitest';

import { openPglite } from '../test/databases.ts';
import type { Database } from './database.ts';

let database: Database;
beforeAll(async () => void (database = await openPglite()), 60_000);
afterAll(() => database.close());

it('converts every type of parameter and column', async () => {
  const texts = ['', 'a "b" \\ {c},', 'null', null, 'ü\n'];
  const [row] = await database.query(
    `select $1::text as text, $2::int4 as int, $3::float8 as float, $4::boolean as no, $5::bytea as bytes, $6::text as nothing,
      to_json($7::text[])::text as texts, to_json($8::int4[])::text as ints, to_json($9::boolean[])::text as booleans`,
    ['x', 7, 2 ** 53, false, new Uint8Array([0, 1, 255]), null, texts, [1, null, -2], [true, false]],
  );
  expect(row).toEqual({
    text: 'x',
    int: 7,
    float: 2 ** 53,
    no: false,
    bytes: Buffer.from([0, 1, 255]),
    nothing: null,
    texts: JSON.stringify(texts),
    ints: '[1,null,-2]',
    booleans: '[true,false]',
  });
});

it('keeps a prepared statement after its execution fails', async () => {
  const divide = (by: number) => database.query('select (10 / $1::int4) as tenth', [by], { prepare: true });
  await expect(divide(0)).rejects.toMatchObject({ code: '22012' });
  expect(await divide(2)).toEqual([{ tenth: 5 }]);
  await expect(divide(0)).rejects.toMatchObject({ code: '22012' });
  const wrong = () => database.query('select nothing from nowhere', [], { prepare: true });
  for (let n = 0; n < 2; n++) await expect(wrong()).rejects.toMatchObject({ code: '42P01' });
  const names = await database.query<{ n: number }>('select count(*)::int4 as n from pg_prepared_statements');
  expect(names).toEqual([{ n: 1 }]);
});

it('queues statements outside a transaction until it has ended', async () => {
  await database.query('create temporary table entries (text text)');
  let outside: Promise<unknown> | undefined;
  const failed = database.transaction(async (sql) => {
    outside = database.query("insert into entries values ('outside')");
    await Promise.all(['a', 'b'].map((text) => sql.query('insert into entries values ($1)', [text])));
    expect(await sql.query('select text from entries order by text')).toEqual([{ text: 'a' }, { text: 'b' }]);
    throw new Error('no');
  });
  await expect(failed).rejects.toThrow('no');
  await outside;
  expect(await database.query('select text from entries')).toEqual([{ text: 'outside' }]);
});

it('prepares a statement again when the tables may have grown', async () => {
  const text = 'select 1 as planned';
  const madeAt = async () => {
    await database.query(text, [], { prepare: true });
    const [plan] = await database.query<{ at: string }>(
      'select prepare_time::text as at from pg_prepared_statements where statement = $1',
      [text],
    );
    return plan!.at;
  };
  const first = await madeAt();
  expect(await madeAt()).toBe(first);
  for (let n = 0; n < 200; n++) await database.query('select 1 as one');
  const second = await madeAt();
  expect(second).not.toBe(first);
  for (let n = 0; n < 200; n++) await database.query('select 1 as one');
  expect(await madeAt()).toBe(second);
});
