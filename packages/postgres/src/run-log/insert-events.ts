import type { LogBatch } from '@intertie/core/store';
import { toLogText } from '@intertie/core/store';

import type { Sql } from '../database.ts';
import { eventFormat } from './event-format.ts';

/** Adds the last events of a run. The caller holds the run, and has seen that `seq` is the next number. */
export async function insertEvents(sql: Sql, { run, epoch, seq, events }: LogBatch): Promise<void> {
  if (events.length === 0) return;
  await sql.query(
    `insert into intertie.run_events (run_id, last_seq, n, epoch, v, body)
      values ($1::text::uuid, $2::float8::bigint, $3, $4, $5, $6)`,
    [run, seq + events.length - 1, events.length, epoch, eventFormat, toLogText(events)],
  );
}
