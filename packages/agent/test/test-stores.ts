import { createInMemoryStore, type AgentEvent, type Store } from '@intertie/core';
import { PostgresMemoryStore } from '@intertie/postgres';
import { onTestFinished } from 'vitest';

import { connectPg } from '../../postgres/src/pg-database.ts';
import { emptyTables, newPostgresUrl, openPglite } from '../../postgres/test/databases.ts';
import { createRunHost, type RunHost, type RunHostOptions } from '../src/execution/run-host.ts';

export const storeKinds = ['memory', 'PGlite', 'Postgres'] as const;
/** One of these, or a function that opens stores which begin empty and share their data. */
export type StoreKind = (typeof storeKinds)[number] | (() => Promise<() => Store>);

/** One of several processes that share a store: it has its own connections and host. */
export type TestProcess = { store: Store; host: RunHost };
export type TestStore = { process: (options?: RunHostOptions) => TestProcess };

let embedded: ReturnType<typeof openPglite> | undefined;
let url: ReturnType<typeof newPostgresUrl> | undefined;

/** Opens an empty store. Each call of `process` starts a process that shares it. */
export async function openTestStore(on: StoreKind): Promise<TestStore> {
  const open = await opener(on);
  return {
    process(options = {}) {
      const store = open();
      const host = createRunHost(store, { sweepMs: 200, ...options });
      onTestFinished(async () => {
        await host.close();
        await store.close();
      });
      return { store, host };
    },
  };
}

async function opener(on: StoreKind): Promise<() => Store> {
  if (typeof on === 'function') return on();
  if (on === 'memory') {
    const store = createInMemoryStore();
    return () => store;
  }
  if (on === 'PGlite') {
    // Shared by the tests of a file, because PGlite starts slowly.
    const database = await (embedded ??= openPglite());
    await emptyTables(database);
    const store = PostgresMemoryStore.on({ ...database, close: () => Promise.resolve() });
    return () => store;
  }
  const at = await (url ??= newPostgresUrl());
  const first = connectPg(at);
  await emptyTables(first);
  await first.close();
  return () => PostgresMemoryStore.on(connectPg(at));
}

export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Returns the text deltas, joined. */
export function joinText(events: readonly AgentEvent[]): string {
  return events.map((event) => (event.type === 'text-delta' ? event.delta : '')).join('');
}

/** A promise that a test resolves. */
export function gate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => void (open = resolve));
  return { opened, open: () => open() };
}
