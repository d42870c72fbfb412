import { createInMemoryStore, type AgentEvent, type Store } from '@intertie/core';
import { PostgresMemoryStore } from '@intertie/postgres';
import { onTestFinished } from 'vitest';

import { connectPg } from '../../postgres/src/pg-database.ts';
import { emptyTables, newPostgresUrl, openPglite } from '../../postgres/test/databases.ts';
import { createRunHost, type RunHost, type RunHostOptions } from '../src/execution/run-host.ts';

export const stages = ['memory', 'PGlite', 'Postgres'] as const;
/** One of these, or another way to get stores that begin empty and share what they hold. */
export type StageName = (typeof stages)[number] | (() => Promise<() => Store>);

/** A process among those that share a store: connections and a host of its own. */
export type TestProcess = { store: Store; host: RunHost };
export type Stage = { process: (options?: RunHostOptions) => TestProcess };

let embedded: ReturnType<typeof openPglite> | undefined;
let url: ReturnType<typeof newPostgresUrl> | undefined;

/** What a test plays on: empty, and shared by as many processes as it starts. */
export async function openStage(on: StageName): Promise<Stage> {
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

async function opener(on: StageName): Promise<() => Store> {
  if (typeof on === 'function') return on();
  if (on === 'memory') {
    const store = createInMemoryStore();
    return () => store;
  }
  if (on === 'PGlite') {
    // Its boot takes long, and the tests of a file come one after the other.
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

export function saidIn(events: readonly AgentEvent[]): string {
  return events.map((event) => (event.type === 'text-delta' ? event.delta : '')).join('');
}

/** A door that a test opens: whoever comes to it waits. */
export function gate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => void (open = resolve));
  return { opened, open: () => open() };
}
