import type { DetachedLog } from './detached-log.ts';
import { createDetachedRegistry } from './detached-registry.ts';
import { DatabaseUnavailableError } from '../store/database-unavailable-error.ts';
import type { AgentEvent } from '../event/event.ts';
import { withoutCheckpoints } from '../store/rules/log-text.ts';
import type { Json } from '../json/json.ts';
import type { Store } from '../store/store.ts';
import type { Hints } from '../store/hints.ts';
import { override } from './override.ts';
import type { LogPage, LogPosition, RunKey, RunLog } from '../store/run-log.ts';

export type DetachedLogOptions = {
  /** Called for failures that follow an end or a takeover, which stays valid. */
  onError?: (error: unknown) => void;
  /** Bus for the notifications of new events. All other hints come from the store. Default: the bus of the store. */
  hints?: Hints;
};

const beginning: LogPosition = { epoch: 0, seq: 0 };

/**
 * Combines a store with a log in another place. The registry decides and the log follows: it is fenced after a takeover, closed
 * after a run has ended, and dropped after a run is deleted. A process that dies in between leaves a log without an end, which
 * readers derive from the registry, or events of deleted runs, which the log expires. `close` does not close the log.
 */
export function withDetachedLog(store: Store, log: DetachedLog, options: DetachedLogOptions = {}): Store {
  const { onError = () => {}, hints: flushHints } = options;
  const hints = flushHints ? joinHints(store.hints, flushHints) : store.hints;
  const processByRun = new Map<RunKey, string>();
  const parts = {
    registry: createDetachedRegistry({ registry: store.registry, log, processByRun, onError }),
    log: createJoinedLog(store, log, { processByRun, hints }),
    hints,
  };
  const bind = (base: Store): Store =>
    override(base, {
      ...parts,
      forScope: (scope) => bind(base.forScope(scope)),
      deleteMessage: (request) =>
        deleteWithLogs(base, log, () => listThreadRuns(base, request.threadId), base.deleteMessage.bind(base, request)),
      deleteThread: (request) =>
        deleteWithLogs(base, log, () => listThreadRuns(base, request.threadId), base.deleteThread.bind(base, request)),
      purgeAll: () => deleteWithLogs(base, log, () => listAllRuns(base), base.purgeAll.bind(base)),
      exportAll: () => exportAll(base, parts.log),
    });
  return bind(store);
}

/** Sends `flushed` hints over another bus than the store's, and receives from both. */
function joinHints(stored: Hints, flushed: Hints): Hints {
  return {
    publish: (hint) => (hint.type === 'flushed' ? flushed : stored).publish(hint),
    subscribe(listener) {
      const unsubscribes = [stored.subscribe(listener), flushed.subscribe(listener)];
      return () => unsubscribes.forEach((unsubscribe) => unsubscribe());
    },
    isConnected: () => [stored, flushed].every((hints) => hints.isConnected?.() !== false),
  };
}

/** Creates the run log. The store's own log is empty, but reports what the registry knows of a run. */
function createJoinedLog(
  store: Store,
  log: DetachedLog,
  { processByRun, hints }: { processByRun: Map<RunKey, string>; hints: Hints },
): RunLog {
  return {
    async append(batches) {
      const verdicts = await log.append(batches);
      const flushed = new Set<string>();
      for (const [index, { run }] of batches.entries()) {
        const process = processByRun.get(run);
        if (verdicts[index] === 'ok' && process !== undefined) flushed.add(process);
        if (verdicts[index] === 'fenced' || verdicts[index] === 'ended') processByRun.delete(run);
      }
      for (const process of flushed) hints.publish({ type: 'flushed', process });
      return verdicts;
    },

    async read(run, after, limit = 500) {
      return (await log.read(run, after, limit)) ?? readUnknownRun(store, log, run, after);
    },

    async positions(runs) {
      const known = await store.log.positions(runs);
      const live = [...known].filter(([, position]) => position.live);
      if (live.length === 0) return known;
      const logged = await log.positions(live.map(([run]) => run));
      for (const [run, position] of live) known.set(run, { ...position, next: logged.get(run)?.next ?? 1 });
      return known;
    },

    // The registry's `finish` has closed the log, unless its process died; then there is nothing to add.
    close: () => Promise.resolve(),

    async drop(runs) {
      await store.log.drop(runs);
      await dropLogs(store, log, runs, false);
    },
  };
}

/** Returns the page of a run that the log does not know: nothing has been written yet, or nothing is left of it. */
async function readUnknownRun(store: Store, log: DetachedLog, run: RunKey, after: LogPosition): Promise<LogPage> {
  const position = (await store.log.positions([run])).get(run);
  if (position && (position.live || position.epoch === 0))
    return { events: [], position: beginning, tail: 0, valid: after.seq === 0, dropped: false };
  if (position && !(await isDropped(store, run))) {
    // The log may have answered from an old state. Only an empty one lets an epoch own it that no run has.
    const next = await log.own(run, 0);
    if (typeof next !== 'number')
      throw new DatabaseUnavailableError(`The log answers with an old state of the run ${run}.`);
    await log.drop([run]);
  }
  return { events: [], position: { ...after }, tail: 0, valid: false, dropped: true };
}

async function isDropped(store: Store, run: RunKey): Promise<boolean> {
  return (await store.log.read(run, beginning, 1)).dropped;
}

/** Drops the logs that the store reports as dropped. A live run keeps its log. */
async function dropLogs(store: Store, log: DetachedLog, runs: readonly RunKey[], erase: boolean): Promise<void> {
  const found = await Promise.all(runs.map((run) => isDropped(store, run)));
  const dropped = runs.filter((_, index) => found[index]);
  if (dropped.length > 0) await log.drop(dropped, { erase });
}

async function deleteWithLogs(
  base: Store,
  log: DetachedLog,
  list: () => Promise<RunKey[]>,
  work: () => Promise<void>,
): Promise<void> {
  const runs = await list();
  await work();
  await dropLogs(base, log, runs, true);
}

async function listThreadRuns({ registry, scope }: Store, threadId: string): Promise<RunKey[]> {
  return (await registry.listRuns(scope, { threadId })).map(({ key }) => key);
}

async function listAllRuns(base: Store): Promise<RunKey[]> {
  const runs: RunKey[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await base.listThreads(cursor === undefined ? {} : { cursor });
    for (const { id } of page.threads) runs.push(...(await listThreadRuns(base, id)));
    if (page.cursor === undefined) return runs;
    cursor = page.cursor;
  }
}

/** Exports the values of the store, each run followed by its log. */
async function* exportAll(base: Store, log: RunLog): AsyncGenerator<Json> {
  for await (const value of base.exportAll()) {
    yield value;
    const { type, run } = value as { type: string; run?: { key: RunKey; runId: string; threadId: string } };
    if (type !== 'run' || !run) continue;
    let position = beginning;
    for (let page: LogPage | undefined; !page || position.seq < page.tail;) {
      page = await log.read(run.key, position);
      if (page.events.length === 0) break;
      yield {
        type: 'log',
        threadId: run.threadId,
        runId: run.runId,
        events: withoutCheckpoints(page.events as Array<AgentEvent & Json>),
      };
      position = page.position;
    }
  }
}
