import type { LogBatch, RunKey } from '@intertie/core';

import type { Database } from '../src/database.ts';
import type { PostgresMemoryStore } from '../src/postgres-store.ts';
import { insertEvents } from '../src/run-log/insert-events.ts';

/**
 * A store whose log might as well be in another place: the end of a run and the end of its log are two steps, in this
 * order, and the second comes with `close`, later or never.
 */
export function closingLater(store: PostgresMemoryStore, database: Database): PostgresMemoryStore {
  const { registry, log } = store;
  const waiting = new Map<RunKey, LogBatch>();
  const closed = new Set<RunKey>();

  const later: Pick<PostgresMemoryStore, 'registry' | 'log'> = {
    registry: {
      ...registry,
      async finish(run, epoch, end) {
        // Who lost the acknowledgement asks again, and by then the log may be closed.
        if (closed.has(run)) return registry.finish(run, epoch, end);
        const result = await registry.finish(run, epoch, { ...end, events: [] });
        if (result.result === 'ok') waiting.set(run, { run, epoch, seq: end.nextSeq, events: end.events });
        return result;
      },
    },
    log: {
      ...log,
      async close(run, last) {
        const batch = waiting.get(run);
        if (!batch) return;
        await database.transaction(async (sql) => {
          await insertEvents(sql, batch);
          await sql.query('update intertie.runs set last_seq = $2::float8::bigint where id = $1::text::uuid', [
            run,
            last,
          ]);
        });
        waiting.delete(run);
        closed.add(run);
      },
    },
  };
  return Object.assign(store, later);
}
