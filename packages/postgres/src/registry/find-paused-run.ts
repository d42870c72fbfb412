import type { Decision } from '@intertie/core/store';

import type { Sql } from '../database.ts';
import { selectRunDecisions, isOpen } from './decision-row.ts';
import { selectRun, type RunRow } from './run-record.ts';

/** Finds the run of the last answer on the branch if it waits for decisions. Decisions of live runs are handled as `busy`. */
export async function findPausedRun(
  sql: Sql,
  threadUuid: string,
  parentId: string | undefined,
): Promise<{ run: RunRow; open: Decision[] } | undefined> {
  if (parentId === undefined) return undefined;
  const [found] = await sql.query<{ run_key: string }>(
    `with recursive up as (
        select m.parent_id, m.role, m.run_id from intertie.conversation_message m
        where m.thread_id = $1::text::uuid and m.id = $2 and m.deleted_at is null
      union all
        select m.parent_id, m.role, m.run_id from up
          join intertie.conversation_message m on m.thread_id = $1::text::uuid and m.id = up.parent_id
        where up.role <> 'assistant' and m.deleted_at is null)
      select r.id::text as run_key from up join intertie.runs r on r.id = up.run_id
      where up.role = 'assistant' and r.state = 'paused'
        and exists (select 1 from intertie.decisions d where d.run_id = r.id and d.state = 'open')`,
    [threadUuid, parentId],
  );
  const run = found && (await selectRun(sql, found.run_key));
  if (!run) return undefined;
  const decisions = await selectRunDecisions(sql, run.record.key);
  return { run, open: decisions.filter(isOpen).map(({ decision }) => decision) };
}
