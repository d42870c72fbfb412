import type { Outcome, Usage } from '@intertie/core';
import type { RunKey } from '@intertie/core/store';

import type { Sql } from '../database.ts';
import { toJsonText } from './run-message.ts';

export type RunEnd = { outcome: Outcome; usage?: Usage[]; epoch: number; lastSeq: number };

export async function endRun(sql: Sql, key: RunKey, { outcome, usage, epoch, lastSeq }: RunEnd): Promise<void> {
  await sql.query(
    `update intertie.runs
      set state = $2, outcome = $3::text::json, usage = $4::text::json, last_epoch = $5, last_seq = $6::float8::bigint,
        ended_at = clock_timestamp()
      where id = $1::text::uuid`,
    [key, outcome.outcome, JSON.stringify(outcome), toJsonText(usage as never), epoch, lastSeq],
  );
}
