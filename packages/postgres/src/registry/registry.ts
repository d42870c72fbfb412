import { generateId, type RunRecord } from '@intertie/core';
import type { GenerateId } from '@intertie/core/internal';
import {
  checkStoreId,
  type Blobs,
  type Registry,
  type RunKey,
  type Scope,
  defaultLeaseMs,
  defaultResumableLeaseMs,
  readDecisions,
} from '@intertie/core/store';

import { deleteHiddenThreads } from '../conversations/delete-threads.ts';
import type { Database, SqlValue } from '../database.ts';
import type { PostgresHints } from '../hints.ts';
import { isUuid } from '../uuid.ts';
import { answerRun } from './answer-run.ts';
import { listLatestRuns } from './list-latest-runs.ts';
import { openDecisions, selectDecisions } from './decision-row.ts';
import { expireDecisions } from './expire-decisions.ts';
import { finishRun } from './finish-run.ts';
import { promoteRun } from './promote-run.ts';
import type { RegistryContext } from './registry-context.ts';
import { toOwnership, selectRuns, type RunRow } from './run-record.ts';
import { startRun } from './start-run.ts';
import { stopRun } from './stop-run.ts';
import { lockRunThread } from './lock-run-thread.ts';

export type RegistryOptions = {
  hints: PostgresHints;
  /** Storage for large files of messages. */
  blobs: Blobs;
  generateId?: GenerateId;
  /** Duration of a lease after a heartbeat. Default: 15 seconds if all agents of the process can resume, else 45. */
  leaseMs?: number;
};

/**
 * Creates the registry on Postgres. Every decision on more than one row is a transaction that locks the thread first. Calls
 * that concern only the owner of a live run lock that row of `run_live`. A thread is never locked after a run, so there are
 * no deadlocks. All times come from the database.
 */
export function createRegistry(database: Database, options: RegistryOptions): Registry {
  const context: RegistryContext = {
    database,
    hints: options.hints,
    blobs: options.blobs,
    generateId: options.generateId ?? generateId,
    leaseMs: options.leaseMs ?? defaultLeaseMs,
    resumableLeaseMs: options.leaseMs ?? defaultResumableLeaseMs,
  };

  return {
    start: (scope, request) => startRun(context, scope, request),
    answer: (scope, run, request) => answerRun(context, scope, run, request),
    stop: (scope, run, reason) => stopRun(context, scope, run, reason),

    openDecisions(key, epoch, decisions) {
      const requests = readDecisions(decisions);
      return database.hot.transaction(async (sql) => {
        const run = await lockRunThread(sql, key);
        if (!run?.isLive || run.epoch !== epoch) return 'fenced';
        await openDecisions(sql, run, requests);
        return 'ok';
      });
    },

    async setWaiting(key, epoch, waiting) {
      if (!isUuid(key)) return 'fenced';
      const [owned] = await database.hot.query(
        'update intertie.run_live set waiting = $3 where run_id = $1::text::uuid and epoch = $2 returning 1 as owned',
        [key, epoch, waiting],
      );
      return owned ? 'ok' : 'fenced';
    },

    finish: (run, epoch, end) => finishRun(context, run, epoch, end),
    async promote(scope, threadId, process, claim = context.generateId()) {
      checkStoreId('process', process);
      checkStoreId('claim', claim);
      return promoteRun(context, scope, threadId, process, claim);
    },

    async fence(key, process, silentMs, claim) {
      checkStoreId('process', process);
      if (claim !== undefined) checkStoreId('claim', claim);
      if (!isUuid(key)) return null;
      const fenced = await takeRuns(
        database,
        `update intertie.run_live l set epoch = l.epoch + 1, process = $1, claim = $2, released_at = null
          where l.run_id = $3::text::uuid and l.stop_requested_at <= now() - $4::float8 * interval '1 ms'
            and not (l.process = $1 and coalesce(l.claim = $2, false))
          returning l.run_id, l.epoch`,
        [process, claim ?? null, key, silentMs],
      );
      return fenced[0] ?? null;
    },

    async heartbeat(process, info, leaseMs = context.leaseMs) {
      checkStoreId('process', process);
      await database.hot.query(
        `insert into intertie.processes as p (id, lease_until, info)
          values ($1, now() + $2::float8 * interval '1 ms', $3::text::json)
          on conflict (id) do update
            set lease_until = excluded.lease_until, info = coalesce(excluded.info, p.info)`,
        [process, leaseMs, info === undefined ? null : JSON.stringify(info)],
      );
    },

    async retire(process) {
      checkStoreId('process', process);
      await database.hot.query('delete from intertie.processes where id = $1', [process]);
    },

    leaseMs: context.leaseMs,
    resumableLeaseMs: context.resumableLeaseMs,
    isDurable: true,
    isExclusive: database.embedded,

    async hasPeers(process) {
      const rows = await database.hot.query(
        'select 1 as found from intertie.processes where id <> $1 and lease_until >= now() limit 1',
        [process],
      );
      return rows.length > 0;
    },

    async release(key, epoch) {
      if (!isUuid(key)) return 'fenced';
      const [owned] = await database.hot.query(
        `update intertie.run_live set process = '', claim = null, epoch = epoch + 1, released_at = now()
          where run_id = $1::text::uuid and epoch = $2 returning 1 as owned`,
        [key, epoch],
      );
      return owned ? 'ok' : 'fenced';
    },

    async takeOver(process, { limit = 50, claim, agents, graceMs = 60_000, onlyReleased = false } = {}) {
      checkStoreId('process', process);
      if (claim !== undefined) checkStoreId('claim', claim);
      return takeRuns(
        database,
        // `seen` is the row as the statement first read it. Postgres locks and checks the newest version of a row that has changed since,
        // but does not read its process again: without `seen`, the new owner would seem to have no lease.
        `with dead as (
            select l.run_id from intertie.run_live seen
              join intertie.run_live l on l.run_id = seen.run_id and l.epoch = seen.epoch
              join intertie.runs r on r.id = seen.run_id
              left join intertie.processes p on p.id = seen.process
            where (p.id is null or (p.lease_until < now() and not $6))
              and not (seen.process = $1 and coalesce(seen.claim = $2, false))
              and ($4::text[] is null or r.agent = any ($4::text[])
                or coalesce(p.lease_until, seen.released_at, '-infinity') < now() - $5::float8 * interval '1 ms')
            order by seen.run_id limit $3 for no key update of l skip locked)
          update intertie.run_live l set epoch = l.epoch + 1, process = $1, claim = $2, released_at = null,
            attempts = l.attempts + case when l.released_at is null then 1 else 0 end
          from dead where l.run_id = dead.run_id returning l.run_id, l.epoch`,
        [process, claim ?? null, limit, agents ?? null, graceMs, onlyReleased],
      );
    },

    async listOwned(process, { except = [], limit = 50 } = {}) {
      checkStoreId('process', process);
      const rows = await selectRuns(
        database.hot,
        'l.process = $1 and l.run_id <> all ($2::text[]::uuid[])',
        [process, except.filter(isUuid), limit],
        'order by r.serial limit $3',
      );
      return rows.map(toOwnership);
    },

    async listStranded(limit = 50) {
      const threads = await database.query<{ scope: string; key: string }>(
        `select t.scope, t.key from intertie.threads t
            join (select thread_id, min(serial) as serial from intertie.runs where state = 'queued' group by thread_id) q
              on q.thread_id = t.id
          where not exists (select 1 from intertie.run_live l where l.thread_id = t.id)
          order by q.serial limit $1`,
        [limit],
      );
      return threads.map(({ scope, key }) => ({ scope: scope as Scope, threadId: key }));
    },

    expire: (limit) => expireDecisions(context, limit),

    deleteHidden: (minAgeMs, limit) => deleteHiddenThreads(context, minAgeMs, limit),

    async listPrunable(minAgeMs, limit = 50) {
      const runs = await database.query<{ key: string }>(
        `select id::text as key from intertie.runs
          where ended_at < now() - $1::float8 * interval '1 millisecond' and log_dropped_at is null order by ended_at limit $2`,
        [minAgeMs, limit],
      );
      return runs.map(({ key }) => key as RunKey);
    },

    async getRun(scope, key) {
      if (!isUuid(key)) return null;
      const rows = await selectRuns(database, 'r.id = $1::text::uuid and t.scope = $2', [key, scope]);
      return toRecords(rows)[0] ?? null;
    },

    async findRun(scope, { runId, threadId }) {
      const rows = await selectRuns(
        database,
        `r.client_run_id = $2 and t.scope = $1${threadId === undefined ? '' : ' and t.key = $3'}`,
        [scope, runId, ...(threadId === undefined ? [] : [threadId])],
        'order by r.serial desc limit 1',
      );
      return toRecords(rows)[0] ?? null;
    },

    async listRuns(scope, { threadId, messageId }) {
      const where = [
        't.scope = $1',
        ...(threadId === undefined ? [] : ['t.key = $2']),
        ...(messageId === undefined ? [] : [`r.message_id = $${threadId === undefined ? 2 : 3}`]),
      ].join(' and ');
      const values = [threadId, messageId].filter((value) => value !== undefined);
      return toRecords(await selectRuns(database, where, [scope, ...values], 'order by r.serial'));
    },

    listLatestRuns: (scope, query) => listLatestRuns(database, scope, query),
    async listBranchRuns(scope, { agent, branchKey, limit = 20 }) {
      const values = [branchKey, agent, scope, limit];
      return toRecords(
        await selectRuns(
          database,
          'r.branch_key = $1 and r.agent = $2 and t.scope = $3',
          values,
          'order by r.serial desc limit $4',
        ),
      );
    },

    async liveRun(scope, { threadId }) {
      const rows = await selectRuns(database, 't.scope = $1 and t.key = $2 and l.run_id is not null', [
        scope,
        threadId,
      ]);
      return toRecords(rows)[0] ?? null;
    },

    async listDecisions(scope, { threadId, run, state } = {}) {
      if (run !== undefined && !isUuid(run)) return [];
      const rows = await selectDecisions(
        database,
        `t.scope = $1 and ($2::text is null or t.key = $2) and ($3::text is null or d.run_id = $3::text::uuid)
          and ($4::text is null or d.state = $4)`,
        [scope, threadId ?? null, run ?? null, state ?? null],
      );
      return rows.map(({ decision }) => decision);
    },
  };
}

function toRecords(rows: readonly RunRow[]): RunRecord[] {
  return rows.map(({ record }) => record);
}

/**
 * Transfers the runs that the statement returns to the process `$1` under the claim `$2`, which fences their previous owners.
 * Also returns runs that the process already owns under this claim, so that a call can be repeated after a lost reply.
 */
async function takeRuns(
  database: Database,
  update: string,
  values: readonly SqlValue[],
): Promise<Array<ReturnType<typeof toOwnership>>> {
  const taken = await database.hot.query<{ key: string; epoch: number }>(
    `with taken as (${update})
      select run_id::text as key, epoch from taken
      union select l.run_id::text, l.epoch from intertie.run_live l where l.process = $1 and l.claim = $2`,
    values,
  );
  if (taken.length === 0) return [];
  const epochs = new Map(taken.map(({ key, epoch }) => [key, epoch]));
  const keys = [...epochs.keys()];
  const rows = await selectRuns(database.hot, 'r.id = any ($1::text[]::uuid[])', [keys], 'order by r.serial');
  // Between the two statements, another process may have taken over a run, or a user may have deleted it.
  return rows.filter(({ record, epoch, isLive }) => isLive && epoch === epochs.get(record.key)).map(toOwnership);
}
