import { MessageFormatError, type AgentEvent } from '@intertie/core';
import type { LogPage, LogPosition, RunKey } from '@intertie/core/store';

import type { Sql } from '../database.ts';
import { eventFormat } from './write-log.ts';

export type LogRead = { run: RunKey; after: LogPosition; limit: number };

type Row = {
  ordinal: number;
  found: boolean;
  dropped: boolean;
  tail: number;
  last_seq: number | null;
  n: number | null;
  epoch: number | null;
  v: number | null;
  body: string | null;
};

const beginning: LogPosition = { epoch: 0, seq: 0 };
/** Maximum size of a page. Prevents reading a long log of large events at once. */
const maxPageBytes = 4 * 2 ** 20;

/**
 * Reads pages of several logs in one statement. Rows are keyed by their last sequence number, so the rows from `after` on are
 * an index range. The first of them contains `after` itself and shows whether the position is valid.
 */
export async function readLogs(sql: Sql, reads: readonly LogRead[]): Promise<LogPage[]> {
  const rows = await sql.query<Row>(
    `select w.ordinal::int4 as ordinal, r.id is not null as found, r.log_dropped_at is not null as dropped,
        coalesce(l.next_seq - 1, r.last_seq, 0)::float8 as tail, e.last_seq::float8 as last_seq, e.n, e.epoch,
        e.v::int4 as v, case when e.last_seq > w.after then e.body end as body
      from unnest($1::text[]::uuid[], $2::float8[]::bigint[], $3::int4[]) with ordinality
          w(run_id, after, max, ordinal)
        left join intertie.runs r on r.id = w.run_id
        left join intertie.run_live l on l.run_id = w.run_id
        left join lateral (
          select * from (
            select e.*, sum(case when e.last_seq > w.after then octet_length(e.body) else 0 end)
                over (order by e.last_seq) - octet_length(e.body) as bytes_before
            from intertie.run_events e where e.run_id = w.run_id and e.last_seq >= w.after
            order by e.last_seq limit w.max + 1) e
          where e.bytes_before < $4) e on true
      order by w.ordinal, e.last_seq`,
    [reads.map(({ run }) => run), reads.map(({ after }) => after.seq), reads.map(({ limit }) => limit), maxPageBytes],
  );
  return reads.map((read, index) =>
    toPage(
      read,
      rows.filter(({ ordinal }) => ordinal === index + 1),
    ),
  );
}

export function droppedPage(after: LogPosition, tail: number): LogPage {
  return { events: [], position: { ...after }, tail, valid: false, dropped: true };
}

function toPage({ run, after, limit }: LogRead, rows: readonly Row[]): LogPage {
  const [first] = rows;
  if (!first?.found || first.dropped) return droppedPage(after, first?.tail ?? 0);
  const { tail } = first;
  if (after.seq !== 0 && first.epoch !== after.epoch) {
    return { events: [], position: beginning, tail, valid: false, dropped: false };
  }
  const events: AgentEvent[] = [];
  let position: LogPosition = { ...after };
  for (const row of rows) {
    if (row.body === null || events.length >= limit) continue;
    if (events.length > 0 && row.epoch !== position.epoch) break;
    const [lastSeq, n] = [row.last_seq!, row.n!];
    const skipped = Math.max(0, position.seq - (lastSeq - n));
    const given = decode(run, row.v!, row.body).slice(skipped, skipped + limit - events.length);
    for (const event of given) events.push(event);
    position = { epoch: row.epoch!, seq: lastSeq - n + skipped + given.length };
  }
  return { events, position, tail, valid: true, dropped: false };
}

function decode(run: RunKey, version: number, body: string): AgentEvent[] {
  if (version > eventFormat) {
    const text = `The log of run ${run} has format ${version}; this program reads formats up to ${eventFormat}. Upgrade it.`;
    throw new MessageFormatError('newer-format', 'log', text);
  }
  return JSON.parse(body) as AgentEvent[];
}
