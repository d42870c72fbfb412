import type { Appended, LogBatch } from '@intertie/core/store';
import { toLogText } from '@intertie/core/store';

import type { Sql, SqlPool } from '../database.ts';
import { isUuid } from '../uuid.ts';

/** Format of the events that this version writes, and the newest that it reads. */
export const eventFormat = 1;

/** `processes` are the owners of the written runs. */
export type Flushed = { verdicts: Appended[]; processes: Set<string> };

type Written = { index: number; stop: boolean; process: string };
type LiveRow = { key: string; epoch: number | null; next_seq: number | null };

/**
 * Appends the batches of all runs in one statement. Each batch is accepted or skipped by the locked `run_live` row of its run:
 * owner, next sequence number and stop request. Rows that are locked by another transaction are skipped, not waited for.
 */
export async function flush(sql: SqlPool, channel: string, batches: readonly LogBatch[]): Promise<Flushed> {
  const verdicts: Appended[] = batches.map(() => 'ended');
  const processes = new Set<string>();
  const indexes = [...batches.keys()].filter((index) => isUuid(batches[index]!.run));
  for (const round of groupIntoRounds(batches, indexes)) {
    const written = await append(sql, channel, batches, round);
    for (const { index, stop, process } of written) {
      verdicts[index] = stop ? 'stop' : 'ok';
      processes.add(process);
    }
    const done = new Set(written.map(({ index }) => index));
    const skipped = round.filter((index) => !done.has(index));
    for (const [index, verdict] of await explainSkipped(sql, batches, skipped)) verdicts[index] = verdict;
  }
  return { verdicts, processes };
}

/** Groups batches so that each group has at most one batch per run: one statement cannot update a row twice. */
function groupIntoRounds(batches: readonly LogBatch[], indexes: readonly number[]): number[][] {
  const rounds: number[][] = [];
  const seen = new Map<string, number>();
  for (const index of indexes) {
    const { run } = batches[index]!;
    const round = seen.get(run) ?? 0;
    seen.set(run, round + 1);
    (rounds[round] ??= []).push(index);
  }
  return rounds;
}

function append(
  sql: SqlPool,
  channel: string,
  batches: readonly LogBatch[],
  indexes: readonly number[],
): Promise<Written[]> {
  const sent = indexes.map((index) => batches[index]!);
  return sql.query<Written>(
    `with b as (
        select * from unnest($1::int4[], $2::text[]::uuid[], $3::int4[], $4::float8[]::bigint[], $5::int4[], $6::text[])
          as b(index, run_id, epoch, seq, n, body)),
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
      select index, stop_requested_at is not null as stop, process, (
          select count(pg_notify($8, json_build_object('type', 'flushed', 'process', p.process)::text))
          from (select distinct process from u) p)::int4 as notified
      from u`,
    [
      [...indexes],
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

/** Determines the verdict of skipped batches. */
async function explainSkipped(
  sql: SqlPool,
  batches: readonly LogBatch[],
  indexes: readonly number[],
): Promise<Array<[number, Appended]>> {
  if (indexes.length === 0) return [];
  const rows = await sql.query<LiveRow>(
    `select run_id::text as key, epoch, next_seq::float8 as next_seq from intertie.run_live
      where run_id = any ($1::text[]::uuid[])`,
    [indexes.map((index) => batches[index]!.run)],
  );
  const live = new Map(rows.map((row) => [row.key, row]));
  return indexes.map((index) => [index, getVerdict(batches[index]!, live.get(batches[index]!.run))]);
}

function getVerdict({ epoch, seq, events }: LogBatch, live: LiveRow | undefined): Appended {
  if (!live || live.epoch === null || live.next_seq === null) return 'ended';
  if (epoch < live.epoch) return 'fenced';
  if (epoch > live.epoch || seq > live.next_seq) return 'regressed';
  // The batch is still valid: the row was locked by another transaction.
  if (seq === live.next_seq) return 'locked';
  // Either the whole batch is already stored, or another writer has used these numbers.
  return live.next_seq >= seq + events.length ? 'applied' : 'fenced';
}

/** Inserts the last events of a run. The caller owns the run and has checked that `seq` is the next number. */
export async function insertEvents(sql: Sql, { run, epoch, seq, events }: LogBatch): Promise<void> {
  if (events.length === 0) return;
  await sql.query(
    `insert into intertie.run_events (run_id, last_seq, n, epoch, v, body)
      values ($1::text::uuid, $2::float8::bigint, $3, $4, $5, $6)`,
    [run, seq + events.length - 1, events.length, epoch, eventFormat, toLogText(events)],
  );
}
