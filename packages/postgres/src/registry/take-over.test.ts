import { expect, it } from 'vitest';

import { newPostgresUrl } from '../../test/databases.ts';
import { asProcess, start } from '../../test/processes.ts';
import type { Database } from '../database.ts';
import { connectPg } from '../pg-database.ts';
import { PostgresMemoryStore } from '../postgres-store.ts';

// The statements of several processes meet in the moment that matters only by chance, so they get many chances.
it('gives each run to one process when several take over at the same time', { timeout: 60_000 }, async () => {
  const url = await newPostgresUrl();
  const database = connectPg(url);
  const open = (name: string) => asProcess(name, PostgresMemoryStore.on(connectPg(url)));
  const first = asProcess('p1', PostgresMemoryStore.on(database));
  const processes = [first, open('p2'), open('p3'), open('p4')];
  for (const { name, store } of processes) await store.registry.heartbeat(name);
  const threads = Array.from({ length: 100 }, (_, n) => `thread_${n}`);
  await Promise.all(threads.map((threadId) => start(first, threadId, { threadId })));
  for (let round = 1; round <= 20; round += 1) {
    await database.query(`update intertie.run_live set process = '', epoch = epoch + 1, released_at = now()`);
    const taken = await Promise.all(processes.map(({ name, store }) => store.registry.takeOver(name, { limit: 1000 })));
    // A process skips runs that another one has locked, which takes them or finds them at its next sweep.
    const all = [...taken.flat(), ...(await first.store.registry.takeOver('p1', { limit: 1000 }))];
    expect(all.map(({ epoch }) => epoch)).toEqual(threads.map(() => 1 + 2 * round));
  }
});

/** Delays the reply to the statement that takes runs, as a blocked event loop does. */
function delayTaking(database: Database): { database: Database; taken: Promise<void>; proceed: () => void } {
  let onTaken = (): void => undefined;
  let onProceed = (): void => undefined;
  const taken = new Promise<void>((resolve) => void (onTaken = resolve));
  const proceeded = new Promise<void>((resolve) => void (onProceed = resolve));
  const query: Database['query'] = async (text, ...rest) => {
    const rows = await database.hot.query(text, ...rest);
    if (text.includes('with taken as')) {
      onTaken();
      await proceeded;
    }
    return rows as never;
  };
  const hot = { ...database.hot, query };
  return { database: { ...database, hot }, taken, proceed: onProceed };
}

it('does not return a run that another process has taken over before the reply arrives', async () => {
  const url = await newPostgresUrl();
  const slow = delayTaking(connectPg(url));
  const first = asProcess('first', PostgresMemoryStore.on(slow.database));
  const second = asProcess('second', PostgresMemoryStore.on(connectPg(url)));
  const { registry } = second.store;
  await start(second, 'r1', { process: 'dead' });
  const pending = first.store.registry.takeOver('first', { claim: 'c1' });
  await slow.taken;
  // `first` has no lease, as if it had expired.
  expect(await registry.takeOver('second', { claim: 'c2' })).toMatchObject([{ epoch: 3, run: { process: 'second' } }]);
  slow.proceed();
  expect(await pending).toEqual([]);
});
