import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { Agent, createRunHost } from '@intertie/agent';
import { storeContract } from '@intertie/conformance/store-contract';
import { withDetachedLog, type AgentEvent, type Store } from '@intertie/core';
import { createRunWatcher, followRun, type Followed } from '@intertie/core/internal';
import type { DetachedLog, RunKey, Started } from '@intertie/core/store';
import { createStore } from '@intertie/postgres';
import pg from 'pg';
import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';

import { createRedisLog } from '../../examples/redis-log/dist/redis-log.js';
import { killWorkers } from '../../packages/agent/test/kill-workers.ts';
import { approvals } from '../../packages/agent/test/scenarios/approvals.ts';
import { busy } from '../../packages/agent/test/scenarios/busy.ts';
import { endings } from '../../packages/agent/test/scenarios/endings.ts';
import { readers } from '../../packages/agent/test/scenarios/readers.ts';
import { stops } from '../../packages/agent/test/scenarios/stops.ts';
import { turns } from '../../packages/agent/test/scenarios/turns.ts';
import { collect, joinText } from '../../packages/agent/test/test-stores.ts';
import { connectPg } from '../../packages/postgres/src/pg-database.ts';
import { PostgresMemoryStore } from '../../packages/postgres/src/postgres-store.ts';
import { age, longLeaseMs as leaseMs } from '../../packages/postgres/test/age.ts';
import { freePort } from './free-port.ts';
import { count, counted, counting } from './redis-log/counting.ts';
import { installedVersions, startPostgres, type Server } from './system-postgres.ts';
import { hasRedis, startRedis, type RedisServer } from './system-redis.ts';

const program = (name: string): string => fileURLToPath(new URL(`redis-log/${name}`, import.meta.url));
const versions = hasRedis ? installedVersions.slice(-1) : [];

it('finds redis-server and Postgres', (context) => {
  context.skip(!hasRedis, 'no redis-server is in the path');
  context.skip(versions.length === 0, 'no Postgres is installed in /usr/lib/postgresql');
  expect(versions).toHaveLength(1);
});

describe.each(versions)('a log on Redis with Postgres %s', (version) => {
  let postgres: Server;
  let redis: RedisServer;
  let database: pg.Client;
  let client: Awaited<ReturnType<typeof connect>>;
  const connect = () =>
    createClient({ url: redis.url })
      // The client reconnects automatically. Commands in flight fail and are retried.
      .on('error', () => undefined)
      .connect();
  const sql = {
    query: async <Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> =>
      (await database.query(text, [...values])).rows,
  };

  beforeAll(async () => {
    [postgres, redis] = await Promise.all([startPostgres(version), startRedis()]);
    await (await createStore(postgres.url)).close();
    database = new pg.Client(postgres.url);
    await database.connect();
    client = await connect();
  });
  afterAll(async () => {
    await client.close();
    await database.end();
    await Promise.all([postgres.stop(), redis.stop()]);
  });

  const empty = async (): Promise<void> => {
    const tables = ['blob_refs', 'blobs', 'requests', 'run_events', 'conversation_message', 'threads', 'processes'];
    for (const table of tables) await database.query(`delete from intertie.${table}`);
    await client.sendCommand(['FLUSHALL']);
  };
  const open = async (change: Partial<DetachedLog> = {}): Promise<Store> =>
    withDetachedLog(await createStore({ url: postgres.url, leaseMs }), { ...createRedisLog(client), ...change });
  const openEmpty = async (change?: Partial<DetachedLog>): Promise<Store> => {
    await empty();
    return open(change);
  };

  /** An agent that counts, and runs a function halfway. */
  const counter = async (halfWay: () => void): Promise<Agent> => {
    const store = await openEmpty();
    const host = createRunHost(store, { onError: () => undefined });
    onTestFinished(async () => {
      await host.close();
      await store.close();
    });
    return new Agent({ source: counting(halfWay), store, host });
  };

  storeContract('Postgres and Redis', () => openEmpty(), {
    clock: { now: () => Date.now(), advance: (ms) => age(sql, ms), leaseMs },
    detachedLog: { openWithUnclosedLog: () => openEmpty({ close: () => new Promise(() => {}) }) },
  });

  describe('agents', () => {
    const openShared = async (): Promise<() => Store> => {
      await empty();
      return () => withDetachedLog(PostgresMemoryStore.on(connectPg(postgres.url)), createRedisLog(client));
    };
    turns(openShared);
    approvals(openShared);
    stops(openShared);
    busy(openShared);
    readers(openShared);
    endings(openShared);
  });

  it('survives 3 SIGKILLs of a process that runs tools and approvals', { timeout: 240_000 }, async ({ annotate }) => {
    await empty();
    const target = `${postgres.url} ${redis.url}`;
    const worker = program('worker-process.mjs');
    const figures = await killWorkers(3, { target, open: () => open(), concurrency: 3, worker });
    await annotate(figures);
    expect(figures).toContain('3 kills');
  });

  it('delivers the end once after a SIGKILL between the end of a run and the end of its log', async () => {
    const store = await openEmpty();
    onTestFinished(() => store.close());
    const key = await startRun(store);
    const deltas: AgentEvent[] = ['Hel', 'lo'].map((delta) => ({ type: 'text-delta', id: 'p', delta }));
    await store.log.append([{ run: key, epoch: 1, seq: 1, events: deltas }]);
    const there = readAll(store, key);
    const child = spawn(process.execPath, [program('finisher-process.mjs'), postgres.url, redis.url, key, '3']);
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
    const expected = [...deltas, { type: 'run-end', outcome: 'complete' }];
    expect(await there).toMatchObject(expected);
    expect(await readAll(store, key)).toMatchObject(expected);
    expect(await store.getMessage({ threadId: 't', messageId: 'a' })).toMatchObject({ status: 'complete' });
    expect((await store.log.read(key, { epoch: 1, seq: 2 })).events).toEqual([]);
  });

  it('continues a run after a SIGKILL of Redis without lost or repeated events', async () => {
    let restarted: Promise<void> | undefined;
    const agent = await counter(() => void (restarted = redis.restart()));
    const run = await agent.stream({ threadId: 't', message: 'Count' });
    expect(joinText(await collect(run.events))).toBe(counted);
    await restarted;
    expect(await run.message).toMatchObject({
      status: 'complete',
      content: { parts: [{ type: 'text', text: counted }] },
    });
    const logged = await readAll(agent.store, (await run.record()).key);
    expect(joinText(logged)).toBe(counted);
    expect(logged.at(-1)).toMatchObject({ type: 'run-end', outcome: 'complete' });
  });

  it('ends a run with `log-lost` and its text so far after Redis lost all data', async () => {
    const agent = await counter(() => void client.sendCommand(['FLUSHALL']));
    const run = await agent.stream({ threadId: 't', message: 'Count' });
    const message = await run.message;
    const { key } = await run.record();
    expect(await agent.store.registry.getRun(agent.store.scope, key)).toMatchObject({
      state: 'error',
      outcome: { error: { code: 'log-lost' } },
    });
    const { text } = message.content.parts[0] as { text: string };
    expect(counted.startsWith(text)).toBe(true);
    expect(text).toContain(`${count / 2} `);
    expect((await readAll(agent.store, key)).at(-1)).toMatchObject({ type: 'run-end', outcome: 'error' });
  });

  it('writes runs of several slots on a cluster', async () => {
    const cluster = await startRedis('--cluster-enabled', 'yes', '--cluster-port', String(await freePort()));
    const member = await createClient({ url: cluster.url }).connect();
    onTestFinished(async () => {
      await member.close();
      await cluster.stop();
    });
    await member.sendCommand(['CLUSTER', 'ADDSLOTSRANGE', '0', '16383']);
    await expect.poll(() => member.sendCommand(['CLUSTER', 'INFO']), { timeout: 30_000 }).toContain('cluster_state:ok');
    const runs = ['one', 'two', 'three'] as RunKey[];
    const events: AgentEvent[] = [{ type: 'text-start', id: 'p' }];
    const batches = runs.map((run) => ({ run, epoch: 1, seq: 1, events }));
    await expect(createRedisLog(member).append(batches)).rejects.toThrow('CROSSSLOT');
    const log = createRedisLog(member, { isCluster: true });
    expect(await log.append(batches)).toEqual(['ok', 'ok', 'ok']);
    expect(await log.own('two' as RunKey, 2)).toBe(2);
    expect(await log.append(batches)).toEqual(['applied', 'fenced', 'applied']);
    await log.close({ run: runs[0]!, epoch: 1, seq: 2, events });
    await log.drop(runs.slice(1));
    expect(await log.positions(runs)).toEqual(
      new Map(runs.map((run, n) => [run, { next: n === 0 ? 3 : 2, ended: true }])),
    );
  });

  it('expires every run', async () => {
    const store = await openEmpty();
    onTestFinished(() => store.close());
    const key = await startRun(store);
    await store.log.append([{ run: key, epoch: 1, seq: 1, events: [{ type: 'text-start', id: 'p' }] }]);
    const ttl = async (): Promise<number[]> => {
      const keys = (await client.sendCommand(['KEYS', '*'])) as string[];
      return Promise.all(keys.map(async (each) => Number(await client.sendCommand(['PTTL', each]))));
    };
    expect(await ttl()).toHaveLength(2);
    for (const left of await ttl()) expect(left).toBeGreaterThan(0);
    await store.purgeAll();
    const [left, ...others] = await ttl();
    expect(others).toEqual([]);
    expect(left).toBeGreaterThan(0);
  });
});

async function startRun({ registry, scope }: Store): Promise<RunKey> {
  await registry.heartbeat('p1');
  const ids = { threadId: 't', runId: 'r', messageId: 'a', agent: 'helper', process: 'p1' };
  const started = await registry.start(scope, { ...ids, busy: 'reject', pending: 'reject' });
  return (started as Started).run.key;
}

/** Reads a stream to its end. */
async function readAll(store: Store, run: RunKey): Promise<AgentEvent[]> {
  const watcher = createRunWatcher({ log: store.log, hints: store.hints });
  const events: AgentEvent[] = [];
  for await (const item of followRun({
    store,
    watcher,
    scope: store.scope,
    run,
  }) as unknown as AsyncIterable<Followed>) {
    if (item.type === 'events') events.push(...item.events);
    else if (item.type === 'ended') events.push(item.event);
    else throw new Error(`A reader got ${item.type}.`);
  }
  watcher.close();
  return events;
}
