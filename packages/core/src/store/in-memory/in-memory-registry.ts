import type { Registry, StopResult } from '../registry.ts';
import type { Scope } from '../scope.ts';
import { checkStoreId } from '../store-id.ts';
import { readDecisions } from '../rules/decision-rules.ts';
import { answerRun } from './answer-run.ts';
import { changeMessage, findMessage, findThread, nextVersion } from './conversation.ts';
import {
  abandonRun,
  toDecision,
  isAwaiting,
  isOpen,
  isOverdue,
  openDecisions,
  settleDecision,
} from './decision-row.ts';
import { deleteThreadRow } from './delete-rows.ts';
import { finishRun } from './finish-run.ts';
import { findNextQueued } from './find-next-queued.ts';
import {
  endRun,
  findOwned,
  findRun,
  activateRun,
  isClaimed,
  isLeaseExpired,
  takeDeadRun,
  takeOwnership,
  toOwnership,
  toRunRecord,
  requestStop,
} from './run-row.ts';
import { listLatestRuns } from './list-latest-runs.ts';
import { startRun, supersede } from './start-run.ts';
import type { RunRow, Tables } from './tables.ts';

/** Owner of released runs. No process can have this id. */
const released = '';

/** Creates the in-memory registry. No method awaits between its first read and its last write, so each is atomic. */
export function createInMemoryRegistry(tables: Tables): Registry {
  const listThreads = (scope: Scope) => tables.threads.get(scope)?.values() ?? [];

  return {
    start: async (scope, request) => startRun(tables, scope, request),

    async answer(scope, key, request) {
      const run = findRun(tables, scope, key);
      return run ? answerRun(tables, run, request) : null;
    },

    async stop(scope, key, reason) {
      const run = findRun(tables, scope, key);
      return run ? stopRun(tables, run, reason) : null;
    },

    async openDecisions(key, epoch, decisions) {
      const run = findOwned(tables, key, epoch);
      if (!run) return 'fenced';
      openDecisions(tables, run, readDecisions(decisions));
      return 'ok';
    },

    async setWaiting(key, epoch, waiting) {
      const run = findOwned(tables, key, epoch);
      if (!run?.live) return 'fenced';
      run.live.waiting = waiting;
      return 'ok';
    },

    async finish(key, epoch, end) {
      const run = tables.runs.get(key);
      return run ? finishRun(tables, run, epoch, end) : { result: 'fenced' };
    },

    async promote(scope, threadId, process, claim = tables.generateId()) {
      checkStoreId('process', process);
      checkStoreId('claim', claim);
      const thread = findThread(tables, scope, threadId);
      if (thread?.live && isClaimed(thread.live, process, claim)) return toOwnership(thread.live);
      const run = thread && !thread.live && findNextQueued(thread);
      if (!run) return null;
      const { parentId } = run.message.message;
      const version = nextVersion(tables, thread);
      if (parentId !== undefined) supersede(tables, findMessage(thread, parentId), version);
      run.wasQueued = true;
      return activateRun(tables, run, process, claim);
    },

    async fence(key, process, silentMs, claim) {
      checkStoreId('process', process);
      if (claim !== undefined) checkStoreId('claim', claim);
      const run = tables.runs.get(key);
      if (run && isClaimed(run, process, claim)) return toOwnership(run);
      const since = run?.live?.stopRequestedAt;
      return run && since !== undefined && since <= tables.now() - silentMs ? takeOwnership(run, process, claim) : null;
    },

    async heartbeat(process, _info, leaseMs = tables.leaseMs) {
      checkStoreId('process', process);
      tables.leases.set(process, tables.now() + leaseMs);
    },

    async retire(process) {
      checkStoreId('process', process);
      tables.leases.delete(process);
    },

    leaseMs: tables.leaseMs,
    resumableLeaseMs: tables.resumableLeaseMs,

    async hasPeers(process) {
      return [...tables.leases].some(([id, until]) => id !== process && until >= tables.now());
    },

    async release(key, epoch) {
      const run = findOwned(tables, key, epoch);
      if (!run?.live) return 'fenced';
      takeOwnership(run, released);
      run.live.releasedAt = tables.now();
      return 'ok';
    },

    async takeOver(process, { limit = 50, claim, agents, graceMs = 60_000, onlyReleased = false } = {}) {
      checkStoreId('process', process);
      if (claim !== undefined) checkStoreId('claim', claim);
      const live = [...tables.live];
      const claimed = live.filter((run) => isClaimed(run, process, claim));
      const isOverdueRun = ({ live: row }: RunRow): boolean =>
        (tables.leases.get(row!.process) ?? row!.releasedAt ?? -Infinity) < tables.now() - graceMs;
      const dead = live.filter(
        (run) =>
          isLeaseExpired(tables, run) &&
          !(onlyReleased && tables.leases.has(run.live!.process)) &&
          !claimed.includes(run) &&
          (!agents || agents.includes(run.agent) || isOverdueRun(run)),
      );
      return [...claimed.map(toOwnership), ...dead.slice(0, limit).map((run) => takeDeadRun(run, process, claim))];
    },

    async listOwned(process, { except = [], limit = 50 } = {}) {
      checkStoreId('process', process);
      const excluded = new Set(except);
      const owned = [...tables.live].filter((run) => run.live?.process === process && !excluded.has(run.key));
      return owned.slice(0, limit).map(toOwnership);
    },

    async listStranded(limit = 50) {
      const threads = new Set([...tables.queued].map((run) => run.thread).filter((thread) => !thread.live));
      return [...threads].slice(0, limit).map(({ scope, id }) => ({ scope, threadId: id }));
    },

    expire: async (limit = Infinity) => expireDecisions(tables, limit),

    async deleteHidden(minAgeMs, limit = 50) {
      const changedBefore = tables.now() - minAgeMs;
      const threads = [...tables.threads.values()]
        .flatMap((owned) => Array.from(owned.values()))
        .filter(({ hidden, updatedAt, runs }) => {
          const isBusy = [...runs.values()].some(({ endedAt }) => endedAt === undefined);
          return hidden && updatedAt < changedBefore && !isBusy;
        })
        .slice(0, limit);
      const runs = threads.flatMap((thread) => Array.from(thread.runs.values(), ({ key }) => key));
      for (const thread of threads) deleteThreadRow(tables, thread);
      return { count: threads.length, runs };
    },

    async listPrunable(minAgeMs, limit = 50) {
      const endedBefore = tables.now() - minAgeMs;
      const old = [...tables.ended].filter((run) => run.endedAt! < endedBefore);
      return old.slice(0, limit).map((run) => run.key);
    },

    async getRun(scope, key) {
      const run = findRun(tables, scope, key);
      return run ? toRunRecord(run) : null;
    },

    async findRun(scope, { runId, threadId }) {
      let newest: RunRow | undefined;
      for (const thread of listThreads(scope)) {
        if (threadId !== undefined && thread.id !== threadId) continue;
        const run = thread.runs.get(runId);
        if (run && (!newest || run.serial > newest.serial)) newest = run;
      }
      return newest ? toRunRecord(newest) : null;
    },

    async listRuns(scope, { threadId, messageId }) {
      const threads = threadId === undefined ? [...listThreads(scope)] : [findThread(tables, scope, threadId)];
      return threads
        .flatMap((thread) => Array.from(thread?.runs.values() ?? []))
        .filter(({ message }) => messageId === undefined || message.message.id === messageId)
        .toSorted((a, b) => a.serial - b.serial)
        .map(toRunRecord);
    },

    listLatestRuns: async (scope, query) => listLatestRuns([...listThreads(scope)], query),
    async listBranchRuns(scope, { agent, branchKey, limit = 20 }) {
      return [...listThreads(scope)]
        .flatMap(({ runs }) => Array.from(runs.values()))
        .filter((run) => run.agent === agent && run.branchKey === branchKey)
        .toSorted((a, b) => b.serial - a.serial)
        .slice(0, limit)
        .map(toRunRecord);
    },

    async liveRun(scope, { threadId }) {
      const run = findThread(tables, scope, threadId)?.live;
      return run ? toRunRecord(run) : null;
    },

    async listDecisions(scope, { threadId, run, state } = {}) {
      return [...listThreads(scope)]
        .filter((thread) => threadId === undefined || thread.id === threadId)
        .flatMap((thread) => Array.from(thread.runs.values()))
        .filter(({ key }) => run === undefined || key === run)
        .flatMap(({ decisions }) => Array.from(decisions.values()))
        .filter((decision) => state === undefined || decision.state === state)
        .map(toDecision);
    },
  };
}

function stopRun(tables: Tables, run: RunRow, reason: string | undefined): StopResult {
  if (run.live) {
    requestStop(tables, run, reason);
    return 'requested';
  }
  if (run.state === 'queued') {
    endRun(tables, run, { outcome: 'aborted', by: 'user', ...(reason !== undefined && { reason }) });
    changeMessage(run.message, { status: 'aborted' }, nextVersion(tables, run.thread));
    return 'aborted';
  }
  if (run.continuation || !isAwaiting(run)) return 'ended';
  abandonRun(tables, run, reason ?? 'stopped', nextVersion(tables, run.thread));
  return 'cancelled';
}

function expireDecisions(tables: Tables, limit: number): number {
  const overdue = [...tables.open].filter((row) => isOverdue(tables, row)).slice(0, limit);
  for (const row of overdue) {
    const { run } = row;
    // Settled together with another decision of the same run.
    if (!isOpen(row)) continue;
    if (run.live) {
      settleDecision(tables, row, 'expired');
      tables.hints.publish({ type: 'answer', run: run.key });
    } else {
      abandonRun(tables, run, 'expired', nextVersion(tables, run.thread));
    }
  }
  return overdue.length;
}
