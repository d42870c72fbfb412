import type { AgentEvent, Store } from '@intertie/core';
import {
  createRunFlusher,
  createRunWatcher,
  followRun,
  type Followed,
  type RunFlusher,
  type RunWatcher,
} from '@intertie/core/internal';
import type { LogPosition, RunKey, Started, StartRequest } from '@intertie/core/store';
import { onTestFinished } from 'vitest';

import { connectPg } from '../src/pg-database.ts';
import { PostgresMemoryStore } from '../src/postgres-store.ts';
import { longLeaseMs as leaseMs } from './age.ts';
import { emptyTables, newPostgresUrl, openPglite } from './databases.ts';

/** A store with the run machinery of one process. */
export type TestProcess = {
  name: string;
  store: Store;
  flusher: RunFlusher;
  watcher: RunWatcher;
  follow(run: RunKey, after?: LogPosition): ReadableStream<Followed>;
};

let embedded: ReturnType<typeof openPglite> | undefined;

/** Opens processes `p1`, `p2`, … on one database: each with its own connections, or all on one PGlite. */
export async function openProcesses(on: 'PGlite' | 'Postgres', count: number): Promise<TestProcess[]> {
  if (on === 'Postgres') {
    const url = await newPostgresUrl();
    return Array.from({ length: count }, (_, n) =>
      asProcess(`p${n + 1}`, PostgresMemoryStore.on(connectPg(url), { leaseMs })),
    );
  }
  // Shared, because PGlite starts slowly and the tests of a file are sequential.
  const database = await (embedded ??= openPglite());
  await emptyTables(database);
  const store = PostgresMemoryStore.on({ ...database, close: () => Promise.resolve() }, { leaseMs });
  return Array.from({ length: count }, (_, n) => asProcess(`p${n + 1}`, store));
}

export function asProcess(name: string, store: Store): TestProcess {
  const flusher = createRunFlusher({ log: store.log });
  const watcher = createRunWatcher({ log: store.log, hints: store.hints, process: name, local: flusher });
  onTestFinished(async () => {
    watcher.close();
    await flusher.close();
    await store.close();
  });
  return {
    name,
    store,
    flusher,
    watcher,
    follow: (run, after) =>
      followRun({ store, watcher, scope: store.scope, run, local: flusher, ...(after && { after }) }),
  };
}

export async function start(
  { store, name }: Pick<TestProcess, 'store' | 'name'>,
  run: string,
  rest: Partial<StartRequest> = {},
): Promise<Started> {
  await store.registry.heartbeat(name);
  const result = await store.registry.start(store.scope, {
    threadId: 'thread_1',
    runId: run,
    agent: 'helper',
    process: name,
    messageId: `a_${run}`,
    busy: 'reject',
    pending: 'supersede',
    ...rest,
  });
  if (result.type !== 'started') throw new Error(`Run ${run} was not started: ${JSON.stringify(result)}`);
  return result;
}

export function notice(message: string): AgentEvent {
  return { type: 'notice', level: 'info', message };
}

export async function readLog(store: Store, run: RunKey): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for (let position: LogPosition = { epoch: 0, seq: 0 }; ;) {
    const page = await store.log.read(run, position);
    events.push(...page.events);
    if (page.position.seq >= page.tail) return events;
    position = page.position;
  }
}

/** Reads everything that a reader receives, up to the end of the run. */
export async function readAll(stream: ReadableStream<Followed>): Promise<Followed[]> {
  const items: Followed[] = [];
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return items;
    items.push(value);
  }
}

export function getEvents(items: readonly Followed[]): AgentEvent[] {
  return items.flatMap((item) => (item.type === 'events' ? item.events : item.type === 'ended' ? [item.event] : []));
}
