import type { LogPage, RunKey, RunLog, RunPosition } from '@intertie/core/store';

import type { Database } from '../database.ts';
import type { PostgresHints } from '../hints.ts';
import { isUuid } from '../uuid.ts';
import { flush } from './write-log.ts';
import { droppedPage, readLogs, type LogRead } from './read-log.ts';

type Position = {
  key: string;
  epoch: number;
  next_seq: number;
  stop: boolean;
  stop_reason: string | null;
  live: boolean;
};

type PendingRead = { read: LogRead; resolve: (page: LogPage) => void; reject: (error: unknown) => void };

/** Creates the run log on Postgres: one row per run and flush. */
export function createRunLog(database: Database, { hints }: { hints: PostgresHints }): RunLog {
  let pending: PendingRead[] = [];

  /** Reads all pages that were requested in the same task in one statement, however many runs are followed. */
  const readPending = async (): Promise<void> => {
    const requested = pending;
    pending = [];
    try {
      const pages = await readLogs(
        database,
        requested.map(({ read }) => read),
      );
      for (const [index, { resolve }] of requested.entries()) resolve(pages[index]!);
    } catch (error) {
      for (const { reject } of requested) reject(error);
    }
  };

  return {
    async append(batches) {
      const { verdicts, processes } = await flush(database.hot, hints.channel, batches);
      hints.emitCommitted([...processes].map((process) => ({ type: 'flushed', process })));
      return verdicts;
    },

    read(run, after, limit = 500) {
      if (!isUuid(run)) return Promise.resolve(droppedPage(after, 0));
      return new Promise((resolve, reject) => {
        if (pending.length === 0) queueMicrotask(() => void readPending());
        pending.push({ read: { run, after, limit }, resolve, reject });
      });
    },

    async positions(runs) {
      const rows = await database.query<Position>(
        `select r.id::text as key, coalesce(l.epoch, r.last_epoch, 0) as epoch,
            coalesce(l.next_seq, r.last_seq + 1, 1)::float8 as next_seq, l.stop_requested_at is not null as stop,
            l.stop_reason, l.run_id is not null as live
          from intertie.runs r left join intertie.run_live l on l.run_id = r.id
          where r.id = any ($1::text[]::uuid[])`,
        [runs.filter(isUuid)],
      );
      return new Map(rows.map((row) => [row.key as RunKey, toPosition(row)]));
    },

    // `finishRun` writes the end of the log in its transaction, so the log is already closed.
    close: () => Promise.resolve(),

    async drop(runs) {
      await database.query(
        `with dropped as (
            update intertie.runs set log_dropped_at = now()
            where id = any ($1::text[]::uuid[]) and ended_at is not null and log_dropped_at is null returning id)
          delete from intertie.run_events e using dropped d where e.run_id = d.id`,
        [runs.filter(isUuid)],
      );
    },
  };
}

function toPosition({ epoch, next_seq: next, stop, stop_reason: stopReason, live }: Position): RunPosition {
  return { epoch, next, stop, ...(stopReason !== null && { stopReason }), live };
}
