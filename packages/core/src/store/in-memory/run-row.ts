import type { Json } from '../../json/json.ts';
import type { Outcome } from '../../event/outcome.ts';
import type { Ownership, RunRecord } from '../registry.ts';
import type { RunKey } from '../run-log.ts';
import type { Scope } from '../scope.ts';
import type { MessageRow, RunRow, Tables } from './tables.ts';

export function findRun(tables: Tables, scope: Scope, key: RunKey): RunRow | undefined {
  const run = tables.runs.get(key);
  return run?.thread.scope === scope ? run : undefined;
}

/** Finds the run if this epoch still owns it. */
export function findOwned(tables: Tables, key: RunKey, epoch: number): RunRow | undefined {
  const run = tables.runs.get(key);
  return run?.live && run.epoch === epoch ? run : undefined;
}

/** Creates a queued run of a message. */
export function insertRun(
  tables: Tables,
  message: MessageRow,
  run: { runId: string; agent: string; resumes?: RunRow; input?: Json; createdBy?: string; branchKey?: string },
): RunRow {
  const { thread } = message;
  const row: RunRow = {
    ...run,
    key: tables.generateId() as RunKey,
    serial: ++tables.runSerial,
    thread,
    message,
    createdAt: tables.now(),
    state: 'queued',
    epoch: 0,
    nextSeq: 1,
    log: [],
    logDropped: false,
    decisions: new Map(),
  };
  tables.runs.set(row.key, row);
  thread.runs.set(row.runId, row);
  tables.queued.add(row);
  message.run = row;
  return row;
}

export function activateRun(tables: Tables, run: RunRow, process: string, claim?: string): Ownership {
  run.state = 'running';
  run.startedAt = tables.now();
  tables.queued.delete(run);
  tables.live.add(run);
  run.thread.live = run;
  return takeOwnership(run, process, claim);
}

/** Makes the process the owner and fences the previous one. */
export function takeOwnership(run: RunRow, process: string, claim?: string): Ownership {
  const { claim: _, releasedAt: __, ...live } = run.live ?? {};
  run.epoch += 1;
  run.live = { waiting: false, attempts: 1, ...live, process, ...(claim !== undefined && { claim }) };
  return toOwnership(run);
}

/** Takes the run of a dead process, which counts as an attempt, or a released run, which does not. */
export function takeDeadRun(run: RunRow, process: string, claim?: string): Ownership {
  if (run.live && run.live.releasedAt === undefined) run.live.attempts += 1;
  return takeOwnership(run, process, claim);
}

/** Whether the process owns the run through this call. */
export function isClaimed(run: RunRow, process: string, claim: string | undefined): boolean {
  return claim !== undefined && run.live?.process === process && run.live.claim === claim;
}

/** Whether the process owns the run since the call that created it, and has logged nothing. */
export function isUntouched({ live, epoch, nextSeq }: RunRow, process: string | undefined): boolean {
  return live !== undefined && live.process === process && live.claim === undefined && epoch === 1 && nextSeq === 1;
}

/** Requests a stop. Only the first request counts: another one does not give the owner more time. */
export function requestStop(tables: Tables, run: RunRow, reason: string | undefined): void {
  if (run.live && run.live.stopRequestedAt === undefined) {
    run.live.stopRequestedAt = tables.now();
    if (reason !== undefined) run.live.stopReason = reason;
  }
  tables.hints.publish({ type: 'stop', run: run.key });
}

export function endRun(tables: Tables, run: RunRow, outcome: Outcome): void {
  run.state = outcome.outcome;
  run.outcome = outcome;
  run.endedAt = tables.now();
  delete run.live;
  if (run.thread.live === run) delete run.thread.live;
  tables.live.delete(run);
  tables.queued.delete(run);
  tables.ended.add(run);
}

export function dropLog(tables: Tables, run: RunRow): void {
  run.log.length = 0;
  run.logDropped = true;
  tables.ended.delete(run);
}

export function isLeaseExpired(tables: Tables, run: RunRow): boolean {
  return run.live !== undefined && (tables.leases.get(run.live.process) ?? -Infinity) < tables.now();
}

export function toOwnership(run: RunRow): Ownership {
  return { run: toRunRecord(run), epoch: run.epoch, nextSeq: run.nextSeq };
}

export function toRunRecord(run: RunRow): RunRecord {
  return {
    key: run.key,
    scope: run.thread.scope,
    runId: run.runId,
    threadId: run.thread.id,
    messageId: run.message.message.id,
    agent: run.agent,
    state: run.state,
    ...(run.live && { process: run.live.process }),
    ...(run.live?.waiting && { waiting: true }),
    ...((run.wasQueued || run.startedAt === undefined) && { wasQueued: true }),
    ...(run.live && run.live.attempts > 1 && { attempts: run.live.attempts }),
    ...(run.resumes && { resumes: run.resumes.key }),
    ...(run.input !== undefined && { input: structuredClone(run.input) }),
    ...(run.outcome && { outcome: structuredClone(run.outcome) }),
    ...(run.usage && { usage: structuredClone(run.usage) }),
    ...(run.endedAt !== undefined && { lastSeq: run.nextSeq - 1 }),
    ...(run.createdBy !== undefined && { createdBy: run.createdBy }),
    createdAt: new Date(run.createdAt),
    ...(run.startedAt !== undefined && { startedAt: new Date(run.startedAt) }),
    ...(run.endedAt !== undefined && { endedAt: new Date(run.endedAt) }),
  };
}
