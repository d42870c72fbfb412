import { expect, it } from 'vitest';

import { newPostgresUrl } from '../../test/databases.ts';
import { asProcess, start } from '../../test/processes.ts';
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
