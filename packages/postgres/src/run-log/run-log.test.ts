import type { AgentEvent } from '@intertie/core';
import type { LogPosition, RunKey } from '@intertie/core/store';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';

import { counting } from '../../test/counting.ts';
import { databases, emptyTables, openPostgres } from '../../test/databases.ts';
import { notice, readLog, start, type TestProcess } from '../../test/processes.ts';
import type { Database } from '../database.ts';
import { PostgresMemoryStore } from '../postgres-store.ts';

const beginning: LogPosition = { epoch: 0, seq: 0 };

// The store contract covers the behaviour of every log; these tests cover this implementation.
describe.each(databases)('the run log on $name', { timeout: 60_000 }, ({ open }) => {
  let database: Database;
  let own: Pick<TestProcess, 'name' | 'store'>;
  beforeAll(async () => {
    database = await open();
    own = { name: 'p1', store: PostgresMemoryStore.on(database) };
  }, 60_000);
  beforeEach(() => emptyTables(database));
  afterAll(() => own.store.close());

  it('appends several batches of one run in order in one call', async () => {
    const { run } = await start(own, 'r1');
    const batch = (seq: number, ...texts: string[]) => ({ run: run.key, epoch: 1, seq, events: texts.map(notice) });
    expect(await own.store.log.append([batch(1, 'a'), batch(2, 'b', 'c'), batch(2, 'b', 'c'), batch(9, 'd')])).toEqual([
      'ok',
      'ok',
      'applied',
      'regressed',
    ]);
    expect(await own.store.log.append([batch(4)])).toEqual(['ok']);
    expect(await readLog(own.store, run.key)).toEqual(['a', 'b', 'c'].map(notice));
  });

  it('appends batches of any number of runs in one statement', async () => {
    const runs: RunKey[] = [];
    for (let n = 0; n < 20; n++) runs.push((await start(own, `r${n}`, { threadId: `t${n}` })).run.key);
    const { statements, database: counted } = counting(database);
    const batches = runs.map((run) => ({ run, epoch: 1, seq: 1, events: [notice(run)] }));
    expect(new Set(await PostgresMemoryStore.on(counted).log.append(batches))).toEqual(new Set(['ok']));
    expect(statements).toHaveLength(1);
  });

  it('reads concurrent requests in one statement', async () => {
    const [one, two] = [await start(own, 'r1'), await start(own, 'r2', { threadId: 't2' })];
    await own.store.log.append([
      { run: one.run.key, epoch: 1, seq: 1, events: ['a', 'b', 'c'].map(notice) },
      { run: two.run.key, epoch: 1, seq: 1, events: ['d'].map(notice) },
    ]);
    const { statements, database: counted } = counting(database);
    const { log } = PostgresMemoryStore.on(counted);
    const pages = await Promise.all([
      log.read(one.run.key, { epoch: 1, seq: 1 }, 1),
      log.read(two.run.key, beginning),
      log.read(one.run.key, { epoch: 7, seq: 1 }),
      log.read('no uuid' as RunKey, beginning),
    ]);
    expect(pages).toMatchObject([
      { events: [notice('b')], position: { epoch: 1, seq: 2 }, tail: 3 },
      { events: [notice('d')] },
      { valid: false },
      { dropped: true },
    ]);
    expect(statements).toHaveLength(1);
  });

  it('limits the size of a page and always makes progress', async () => {
    const { run } = await start(own, 'r1');
    const large = (n: number): AgentEvent => notice(`${n}`.repeat(3 * 2 ** 20));
    for (let n = 1; n <= 4; n++) await own.store.log.append([{ run: run.key, epoch: 1, seq: n, events: [large(n)] }]);
    const page = await own.store.log.read(run.key, beginning);
    expect(page.position).toEqual({ epoch: 1, seq: 2 });
    expect((await own.store.log.read(run.key, page.position)).position.seq).toBe(4);
    expect((await own.store.log.read(run.key, { epoch: 1, seq: 4 })).events).toEqual([]);
  });

  it('rejects events of a newer format', async () => {
    const { run } = await start(own, 'r1');
    await own.store.log.append([{ run: run.key, epoch: 1, seq: 1, events: [notice('a')] }]);
    await database.query('update intertie.run_events set v = 99');
    await expect(own.store.log.read(run.key, beginning)).rejects.toMatchObject({
      name: 'MessageFormatError',
      code: 'newer-format',
      message: expect.stringContaining('Upgrade'),
    });
  });
});

describe('the run log on a server', { timeout: 60_000 }, () => {
  it('skips a run that is locked and does not delay others', async () => {
    const database = await openPostgres();
    const own = { name: 'p1', store: PostgresMemoryStore.on(database) };
    onTestFinished(() => own.store.close());
    const [one, two] = [await start(own, 'r1'), await start(own, 'r2', { threadId: 't2' })];
    const batches = [one, two].map(({ run }) => ({ run: run.key, epoch: 1, seq: 1, events: [notice('a')] }));
    await database.transaction(async (sql) => {
      await sql.query(
        'select run_id::text as key from intertie.run_live where run_id = $1::text::uuid for no key update',
        [one.run.key],
      );
      expect(await own.store.log.append(batches)).toEqual(['locked', 'ok']);
    });
    expect(await own.store.log.append(batches)).toEqual(['ok', 'applied']);
  });
});
