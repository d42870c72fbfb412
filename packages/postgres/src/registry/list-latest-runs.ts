import { StoreError } from '@intertie/core';
import type { LatestRunPage, LatestRunState, ListLatestRuns, Scope } from '@intertie/core/store';

import type { Sql, SqlValue } from '../database.ts';
import { selectRuns } from './run-record.ts';

type Row = { key: string; serial: string; state: string; changed_us: string; total: number };

/** Orders by the time of the last change and by creation. The cursor holds both, so that no run is listed twice. */
export async function listLatestRuns(sql: Sql, scope: Scope, query: ListLatestRuns = {}): Promise<LatestRunPage> {
  const { threadId, agent, states, since, limit = 50, cursor } = query;
  const after = cursor === undefined ? undefined : readCursor(cursor);
  const values: SqlValue[] = [scope, limit + 1, after?.us ?? null, after?.serial ?? null];
  const add = (value: SqlValue): string => `$${values.push(value)}`;
  const inRun = ['t.scope = $1', 'not exists (select from intertie.runs n where n.resumes = r.id)'];
  if (threadId !== undefined) inRun.push(`t.key = ${add(threadId)}`);
  if (agent !== undefined) inRun.push(`r.agent = ${add(agent)}`);
  const inList = ['true'];
  if (states) inList.push(`state = any (${add([...states])}::text[])`);
  if (since) inList.push(`changed_us >= ${add(String(since.getTime() * 1000))}::text::bigint`);
  const rows = await sql.query<Row>(
    `with latest as (
        select r.id, r.serial,
          (extract(epoch from coalesce(r.ended_at, r.started_at, r.created_at)) * 1000000)::bigint as changed_us,
          case when l.waiting or r.state = 'paused' and exists (
            select from intertie.decisions d where d.run_id = r.id and d.state = 'open')
            then 'waiting' else r.state end as state
        from intertie.threads t join intertie.runs r on r.thread_id = t.id
          left join intertie.run_live l on l.run_id = r.id
        where ${inRun.join(' and ')}),
      matching as (select *, count(*) over ()::float8 as total from latest where ${inList.join(' and ')})
      select id::text as key, serial::text, state, changed_us::text, total from matching
      where $3::text is null or (changed_us, serial) < ($3::text::bigint, $4::text::bigint)
      order by changed_us desc, serial desc limit $2::int4`,
    values,
  );
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  const selected = await selectRuns(sql, 'r.id = any ($1::text[]::uuid[])', [page.map(({ key }) => key)]);
  const records = new Map(selected.map(({ record }) => [String(record.key), record]));
  return {
    runs: page.flatMap(({ key, state, changed_us }) => {
      const run = records.get(key);
      return run ? [{ run, state: state as LatestRunState, changedAt: new Date(Number(changed_us) / 1000) }] : [];
    }),
    total: rows[0]?.total ?? 0,
    ...(last && { cursor: `${last.changed_us}:${last.serial}` }),
  };
}

function readCursor(cursor: string): { us: string; serial: string } {
  const [, us, serial] = /^(\d{1,18}):(\d{1,18})$/.exec(cursor) ?? [];
  if (us !== undefined && serial !== undefined) return { us, serial };
  const text = `"${cursor}" is not a cursor of listLatestRuns. Pass the cursor of the previous page.`;
  throw new StoreError('invalid', text);
}
