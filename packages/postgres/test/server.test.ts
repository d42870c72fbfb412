import type { AgentEvent } from '@intertie/core';
import type { FinishRequest } from '@intertie/core/store';
import pg from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { migrate } from '../src/migrate.ts';
import { connectPg, usePgPool } from '../src/pg-database.ts';
import { PostgresMemoryStore } from '../src/postgres-store.ts';
import { longLeaseMs as leaseMs } from './age.ts';
import { newPostgresUrl } from './databases.ts';
import { startOwnServer } from './own-server.ts';
import { asProcess, getEvents, notice, readAll, readLog, start } from './processes.ts';

// Tests that need a Postgres server.

const runEnd: AgentEvent = { type: 'run-end', outcome: 'complete' };
const ending = (rest: Partial<FinishRequest>): FinishRequest => ({
  nextSeq: 1,
  events: [runEnd],
  outcome: { outcome: 'complete' },
  content: { format: 2, parts: [] },
  ...rest,
});
const question = { questionId: 'q1', kind: 'input' as const };
const base = { threadId: 'thread_1', role: 'user', type: 'text', createdAt: new Date(0) } as const;

describe('`default_transaction_isolation = serializable`', { timeout: 60_000 }, () => {
  it('waits for locks and reads current rows as under READ COMMITTED', async () => {
    const url = await newPostgresUrl();
    const database = new URL(url).pathname.slice(1);
    const client = new pg.Client(url);
    await client.connect();
    await client.query(`alter database ${database} set default_transaction_isolation = serializable`);
    await client.end();
    const processes = ['p1', 'p2'].map((name) => asProcess(name, PostgresMemoryStore.on(connectPg(url), { leaseMs })));
    const [one, two] = processes;
    const { store } = one!;

    const idempotency = { key: 'k', hash: 'h' };
    const starts = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        processes[n % 2]!.store.registry.start(store.scope, {
          threadId: 'thread_1',
          runId: `r${n}`,
          agent: 'helper',
          process: 'p1',
          messageId: `a${n}`,
          busy: 'reject',
          pending: 'supersede',
          idempotency,
        }),
      ),
    );
    expect(starts.map(({ type }) => type).filter((type) => type === 'started')).toHaveLength(1);
    expect(starts.filter(({ type }) => type === 'attached')).toHaveLength(7);

    const started = starts.find((result) => result.type === 'started')!;
    const { key } = started.run;
    const writer = one!.flusher.open(started);
    await store.registry.heartbeat('p1');
    const disturb = async (): Promise<void> => {
      for (let n = 0; n < 10; n++) {
        await two!.store.registry.stop(store.scope, key, `${n}`);
        await two!.store.registry.takeOver('p2');
        await two!.store.registry.heartbeat('p2');
      }
    };
    const write = async (): Promise<void> => {
      for (let n = 0; n < 20; n++) {
        writer.write(notice(`${n}`));
        await writer.barrier();
      }
    };
    const save = async (writerOf: string, { store: own }: NonNullable<typeof one>): Promise<void> => {
      for (let n = 0; n < 10; n++) {
        const messages = [{ ...base, id: `${writerOf}_${n}`, content: { format: 2 as const, parts: [] } }];
        await own.saveMessages({ messages });
      }
    };
    await Promise.all([disturb(), write(), save('a', one!), save('b', two!)]);
    expect(await readLog(store, key)).toEqual(Array.from({ length: 20 }, (_, n) => notice(`${n}`)));
    expect(writer.stopRequested).toBe(true);

    await writer.finish((rest) => store.registry.finish(key, 1, ending(rest)));
    const asking = await start(one!, 'asking');
    await store.registry.finish(
      asking.run.key,
      1,
      ending({
        outcome: { outcome: 'paused', waitingFor: [{ type: 'question', questionId: 'q1' }] },
        decisions: [{ id: 'q1', kind: 'input', question }],
      }),
    );
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, n) =>
        processes[n % 2]!.store.registry.answer(store.scope, asking.run.key, {
          answers: [{ questionId: 'q1', value: 1 }],
          continuation: { runId: `c${n}`, process: 'p1' },
        }),
      ),
    );
    expect(answers.filter((result) => result!.continuation!.created)).toHaveLength(1);
  });
});

describe('PgBouncer transaction mode without LISTEN (simulated)', { timeout: 60_000 }, () => {
  /** Discards the session before every use, and has no connection for LISTEN. */
  function throughPooler(url: string): PostgresMemoryStore {
    const pool = new pg.Pool({ connectionString: url, max: 3 });
    const connect = pool.connect.bind(pool) as () => Promise<pg.PoolClient>;
    const pooled = Object.assign(pool, {
      connect: async () => {
        const client = await connect();
        await client.query('discard all');
        return client;
      },
    });
    return PostgresMemoryStore.on({ ...usePgPool(pooled), close: () => pool.end() });
  }

  it('follows, stops and answers runs of other processes by polling', async () => {
    const url = await newPostgresUrl();
    const [one, two] = ['p1', 'p2'].map((name) => asProcess(name, throughPooler(url)));
    const started = await start(one!, 'r1');
    const { key } = started.run;
    expect(one!.store.hints.isConnected?.()).toBe(false);
    const reading = readAll(two!.follow(key));
    const writer = one!.flusher.open(started);
    for (const text of ['a', 'b', 'c']) {
      writer.write(notice(text));
      await writer.barrier();
    }
    const stopped = new Promise<void>((resolve) => {
      one!.watcher.watch(key, (position) => void (position?.stop && resolve()));
    });
    await two!.store.registry.stop(two!.store.scope, key);
    await stopped;
    await one!.store.registry.openDecisions(key, 1, [{ id: 'q1', kind: 'input', question }]);
    const continuation = { runId: 'r2', process: 'p2' };
    await two!.store.registry.answer(two!.store.scope, key, {
      answers: [{ questionId: 'q1', value: 1 }],
      continuation,
    });
    expect(await one!.store.registry.listDecisions(one!.store.scope)).toMatchObject([{ state: 'answered' }]);
    writer.write(runEnd);
    await writer.finish((rest) => one!.store.registry.finish(key, 1, ending(rest)));
    expect(getEvents(await reading)).toEqual([...['a', 'b', 'c'].map(notice), runEnd]);
  });
});

describe('database restart', () => {
  it('pauses writers and readers and continues without loss', { timeout: 120_000 }, async () => {
    const server = await startOwnServer();
    onTestFinished(() => server.remove());
    const { url } = server;
    const database = connectPg(url);
    await migrate(database);
    const one = asProcess('p1', PostgresMemoryStore.on(database));
    const two = asProcess('p2', PostgresMemoryStore.on(connectPg(url)));
    const started = await start(one, 'r1');
    const { key } = started.run;
    const [here, there] = [readAll(one.follow(key)), readAll(two.follow(key))];
    const writer = one.flusher.open(started);
    const texts: string[] = [];
    const write = (): void => writer.write(notice(texts[texts.push(`${texts.length}`) - 1]!));
    for (let n = 0; n < 20; n++) write();
    await writer.barrier();
    await vi.waitFor(() => expect(two.store.hints.isConnected?.()).toBe(true), { timeout: 10_000 });

    write();
    const passed = writer.barrier();
    await server.stop();
    for (let n = 0; n < 20; n++) write();
    const later = writer.barrier();
    await server.start();
    expect([await passed, await later]).toEqual(['durable', 'durable']);
    await vi.waitFor(() => expect(two.store.hints.isConnected?.()).toBe(true), { timeout: 30_000 });

    writer.write(runEnd);
    await writer.finish((rest) => one.store.registry.finish(key, 1, ending(rest)));
    const expected = [...texts.map(notice), runEnd];
    expect(await readLog(two.store, key)).toEqual(expected);
    expect(getEvents(await here)).toEqual(expected);
    expect(getEvents(await there)).toEqual(expected);
  });
});
