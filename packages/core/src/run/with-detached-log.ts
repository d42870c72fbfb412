import type { DetachedLog } from './detached-log.ts';
import { createDetachedRegistry } from './detached-registry.ts';
import type { Json } from '../json/json.ts';
import type { Store } from '../store/store.ts';
import { override } from './override.ts';
import type { LogPage, LogPosition, RunKey, RunLog } from '../store/run-log.ts';

export type DetachedLogOptions = {
  /** Is told of what failed behind an end or a takeover that is valid all the same. */
  onError?: (error: unknown) => void;
};

const beginning: LogPosition = { epoch: 0, seq: 0 };

/**
 * A store whose log is in another place. The registry decides and the log follows: it is fenced after a run has changed hands,
 * closed after a run has ended, and dropped after a run is deleted. A process that dies between the two leaves a log without an
 * end, and readers make one of what the registry knows; or events of deleted runs, which the log forgets by itself.
 * `close` closes the store, and not the log.
 */
export function withDetachedLog(store: Store, log: DetachedLog, options: DetachedLogOptions = {}): Store {
  const { onError = () => {} } = options;
  const processOf = new Map<RunKey, string>();
  const parts = {
    registry: createDetachedRegistry({ registry: store.registry, log, processOf, onError }),
    log: joinLog(store, log, processOf),
  };
  const bind = (base: Store): Store =>
    override(base, {
      ...parts,
      forScope: (scope) => bind(base.forScope(scope)),
      deleteMessage: (request) =>
        deleting(base, log, () => runsOf(base, request.threadId), base.deleteMessage.bind(base, request)),
      deleteThread: (request) =>
        deleting(base, log, () => runsOf(base, request.threadId), base.deleteThread.bind(base, request)),
      purgeAll: () => deleting(base, log, () => allRuns(base), base.purgeAll.bind(base)),
      exportAll: () => exportAll(base, parts.log),
    });
  return bind(store);
}

/** The store's own log is empty: it is asked for what the registry knows of a run, which it sees too. */
function joinLog(store: Store, log: DetachedLog, processOf: Map<RunKey, string>): RunLog {
  return {
    async append(batches) {
      const verdicts = await log.append(batches);
      const told = new Set<string>();
      for (const [index, { run }] of batches.entries()) {
        const process = processOf.get(run);
        if (verdicts[index] === 'ok' && process !== undefined) told.add(process);
        if (verdicts[index] === 'fenced' || verdicts[index] === 'ended') processOf.delete(run);
      }
      for (const process of told) store.hints.publish({ type: 'flushed', process });
      return verdicts;
    },

    async read(run, after, limit = 500) {
      return (await log.read(run, after, limit)) ?? unknownPage(store, run, after);
    },

    async positions(runs) {
      const known = await store.log.positions(runs);
      const live = [...known].filter(([, position]) => position.live);
      if (live.length === 0) return known;
      const logged = await log.positions(live.map(([run]) => run));
      for (const [run, position] of live) known.set(run, { ...position, next: logged.get(run)?.next ?? 1 });
      return known;
    },

    // The registry's `finish` has closed it, or has died: then there is nothing left to add.
    close: () => Promise.resolve(),

    async drop(runs) {
      await store.log.drop(runs);
      await dropGone(store, log, runs);
    },
  };
}

/** Of a run that the log does not know: nothing has been written yet, or nothing is left of it. */
async function unknownPage(store: Store, run: RunKey, after: LogPosition): Promise<LogPage> {
  const position = (await store.log.positions([run])).get(run);
  const isFresh = position !== undefined && (position.live || position.epoch === 0);
  if (!isFresh) return { events: [], position: { ...after }, tail: 0, valid: false, dropped: true };
  return { events: [], position: beginning, tail: 0, valid: after.seq === 0, dropped: false };
}

/** Those alone of which the registry says so: a live run keeps its log. */
async function dropGone(store: Store, log: DetachedLog, runs: readonly RunKey[]): Promise<void> {
  const pages = await Promise.all(runs.map((run) => store.log.read(run, beginning, 1)));
  const gone = runs.filter((_, index) => pages[index]!.dropped);
  if (gone.length > 0) await log.drop(gone);
}

async function deleting(
  base: Store,
  log: DetachedLog,
  list: () => Promise<RunKey[]>,
  work: () => Promise<void>,
): Promise<void> {
  const runs = await list();
  await work();
  await dropGone(base, log, runs);
}

async function runsOf({ registry, scope }: Store, threadId: string): Promise<RunKey[]> {
  return (await registry.listRuns(scope, { threadId })).map(({ key }) => key);
}

async function allRuns(base: Store): Promise<RunKey[]> {
  const runs: RunKey[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await base.listThreads(cursor === undefined ? {} : { cursor });
    for (const { id } of page.threads) runs.push(...(await runsOf(base, id)));
    if (page.cursor === undefined) return runs;
    cursor = page.cursor;
  }
}

/** What the store exports, and after each run its log. */
async function* exportAll(base: Store, log: RunLog): AsyncGenerator<Json> {
  for await (const value of base.exportAll()) {
    yield value;
    const { type, run } = value as { type: string; run?: { key: RunKey; runId: string; threadId: string } };
    if (type !== 'run' || !run) continue;
    let position = beginning;
    for (let page: LogPage | undefined; !page || position.seq < page.tail;) {
      page = await log.read(run.key, position);
      if (page.events.length === 0) break;
      yield { type: 'log', threadId: run.threadId, runId: run.runId, events: page.events as unknown as Json };
      position = page.position;
    }
  }
}
