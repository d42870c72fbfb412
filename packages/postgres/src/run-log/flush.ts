import type { Appended, LogBatch } from '@intertie/core/store';
import { toLogText } from '@intertie/core/store';

import type { SqlPool } from '../database.ts';
import { isUuid } from '../uuid.ts';
import { eventFormat } from './event-format.ts';

export type Flushed = { verdicts: Appended[]; /** Those whose runs have been written. */ processes: Set<string> };

type Written = { place: number; stop: boolean; process: string };
type Why = { key: string; epoch: number | null; next_seq: number | null };

/**
 * Appends the batches of all runs in one statement. A run's row decides alone, by the columns that the statement locks:
 * who may write, what the next number is, and whether a stop is requested. A row that somebody else holds just now is
 * skipped, so that it holds up nobody.
 */
export async function flush(sql: SqlPool, channel: string, batches: readonly LogBatch[]): Promise<Flushed> {
  const verdicts: Appended[] = batches.map(() => 'ended');
  const processes = new Set<string>();
  const places = [...batches.keys()].filter((place) => isUuid(batches[place]!.run));
  for (const round of inRounds(batches, places)) {
    // oxlint-disable-next-line no-await-in-loop -- a second batch of the same run comes after the first
    const written = await append(sql, channel, batches, round);
    for (const { place, stop, process } of written) {
      verdicts[place] = stop ? 'stop' : 'ok';
      processes.add(process);
    }
    const done = new Set(written.map(({ place }) => place));
    const missing = round.filter((place) => !done.has(place));
    // oxlint-disable-next-line no-await-in-loop -- as above
    for (const [place, verdict] of await explain(sql, batches, missing)) verdicts[place] = verdict;
  }
  return { verdicts, processes };
}

/** Places of batches, each run once a round: one statement cannot change a row twice. */
function inRounds(batches: readonly LogBatch[], places: readonly number[]): number[][] {
  const rounds: number[][] = [];
  const seen = new Map<string, number>();
  for (const place of places) {
    const { run } = batches[place]!;
    const round = seen.get(run) ?? 0;
    seen.set(run, round + 1);
    (rounds[round] ??= []).push(place);
  }
  return rounds;
}

function append(
  sql: SqlPool,
  channel: string,
  batches: readonly LogBatch[],
  places: readonly number[],
): Promise<Written[]> {
  const sent = places.map((place) => batches[place]!);
  return sql.query<Written>(
    `with b as (
        select * from unnest($1::int4[], $2::text[]::uuid[], $3::int4[], $4::float8[]::bigint[], $5::int4[], $6::text[])
          as b(place, run_id, epoch, seq, n, body)),
      u as materialized (
        select b.*, r.process, r.stop_requested_at
        from b join intertie.run_live r using (run_id)
        where r.epoch = b.epoch and r.next_seq = b.seq
        order by r.run_id for no key update of r skip locked),
      w as (
        update intertie.run_live r set next_seq = u.seq + u.n from u where r.run_id = u.run_id),
      i as (
        insert into intertie.run_events (run_id, last_seq, n, epoch, v, body)
        select run_id, seq + n - 1, n, epoch, $7, body from u where n > 0)
      select place, stop_requested_at is not null as stop, process, (
          select count(pg_notify($8, json_build_object('type', 'flushed', 'process', p.process)::text))
          from (select distinct process from u) p)::int4 as notified
      from u`,
    [
      [...places],
      sent.map(({ run }) => run),
      sent.map(({ epoch }) => epoch),
      sent.map(({ seq }) => seq),
      sent.map(({ events }) => events.length),
      sent.map(({ events }) => toLogText(events)),
      eventFormat,
      channel,
    ],
  );
}

/** Why the statement has left these out. */
async function explain(
  sql: SqlPool,
  batches: readonly LogBatch[],
  places: readonly number[],
): Promise<Array<[number, Appended]>> {
  if (places.length === 0) return [];
  const rows = await sql.query<Why>(
    `select run_id::text as key, epoch, next_seq::float8 as next_seq from intertie.run_live
      where run_id = any ($1::text[]::uuid[])`,
    [places.map((place) => batches[place]!.run)],
  );
  const live = new Map(rows.map((row) => [row.key, row]));
  return places.map((place) => [place, judge(batches[place]!, live.get(batches[place]!.run))]);
}

function judge({ epoch, seq, events }: LogBatch, live: Why | undefined): Appended {
  if (!live || live.epoch === null || live.next_seq === null) return 'ended';
  if (epoch < live.epoch) return 'fenced';
  if (epoch > live.epoch || seq > live.next_seq) return 'regressed';
  // It would be written now: somebody held the row for a moment.
  if (seq === live.next_seq) return 'locked';
  // All of it is there, or another writer has used these numbers: then it is not this owner's log any more.
  return live.next_seq >= seq + events.length ? 'applied' : 'fenced';
}
