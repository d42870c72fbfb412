import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { Agent, createRunHost } from '@intertie/agent';
import { storeContract } from '@intertie/conformance/store-contract';
import { foldEvents, withDetachedLog, type AgentEvent, type Store } from '@intertie/core';
import { readLog } from '@intertie/core/internal';
import type { DetachedLog, RunKey } from '@intertie/core/store';
import { createJetStreamLog, createNatsHints, nats } from '@intertie/nats';
import { createStore } from '@intertie/postgres';
import { createIntertie } from 'intertie';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';

import { killWorkers } from '../../packages/agent/test/kill-workers.ts';
import { approvals } from '../../packages/agent/test/scenarios/approvals.ts';
import { busy } from '../../packages/agent/test/scenarios/busy.ts';
import { endings } from '../../packages/agent/test/scenarios/endings.ts';
import { readers } from '../../packages/agent/test/scenarios/readers.ts';
import { stops } from '../../packages/agent/test/scenarios/stops.ts';
import { turns } from '../../packages/agent/test/scenarios/turns.ts';
import { createWorker } from '../../packages/agent/test/worker.mjs';
import { collect, joinText } from '../../packages/agent/test/test-stores.ts';
import { createRunStreams } from '../../packages/nats/src/run-streams.ts';
import { createLoggedRuns } from '../../packages/nats/test/logged-runs.ts';
import { natsVersion, startNats, type NatsServers } from '../../packages/nats/test/nats-servers.mjs';
import { connectPg } from '../../packages/postgres/src/pg-database.ts';
import { PostgresMemoryStore } from '../../packages/postgres/src/postgres-store.ts';
import { age, longLeaseMs as leaseMs } from '../../packages/postgres/test/age.ts';
import { counted, counting } from './redis-log/counting.ts';
import { installedVersions, startPostgres, type Server } from './system-postgres.ts';

const worker = fileURLToPath(new URL('../../packages/nats/test/worker-process.mjs', import.meta.url));
const versions = natsVersion === undefined ? [] : installedVersions.slice(-1);
const stream = 'intertie-runs';

it('finds nats-server and Postgres', (context) => {
  context.skip(natsVersion === undefined, 'nats-server could not be installed with pip');
  context.skip(versions.length === 0, 'no Postgres is installed in /usr/lib/postgresql');
  expect(versions).toHaveLength(1);
});

describe.each(versions.flatMap((version) => [1, 3].map((count) => ({ version, count }))))(
  'a log on $count NATS servers with Postgres $version',
  ({ version, count }) => {
    let postgres: Server;
    let servers: NatsServers;
    let database: pg.Client;
    let connection: Awaited<ReturnType<NatsServers['connect']>>;
    const sql = {
      query: async <Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> =>
        (await database.query(text, [...values])).rows,
    };

    beforeAll(async () => {
      [postgres, servers] = await Promise.all([startPostgres(version), startNats(count)]);
      await (await createStore(postgres.url)).close();
      database = new pg.Client(postgres.url);
      await database.connect();
      connection = await servers.connect();
    });
    afterAll(async () => {
      await connection.close();
      await database.end();
      await Promise.all([postgres.stop(), servers.stop()]);
    });

    const empty = async (): Promise<void> => {
      const tables = ['blob_refs', 'blobs', 'requests', 'run_events', 'conversation_message', 'threads', 'processes'];
      for (const table of tables) await database.query(`delete from intertie.${table}`);
    };
    const open = async (change: Partial<DetachedLog> = {}): Promise<Store> =>
      withDetachedLog(
        await createStore({ url: postgres.url, leaseMs }),
        { ...createJetStreamLog(connection), ...change },
        { hints: createNatsHints(connection) },
      );
    const openEmpty = async (change?: Partial<DetachedLog>): Promise<Store> => {
      await empty();
      return open(change);
    };

    storeContract(`Postgres and ${count} NATS servers`, () => openEmpty(), {
      clock: { now: () => Date.now(), advance: (ms) => age(sql, ms), leaseMs },
      detachedLog: { openWithUnclosedLog: () => openEmpty({ close: () => new Promise(() => {}) }) },
    });

    describe('agents', () => {
      const openShared = async (): Promise<() => Store> => {
        await empty();
        return () =>
          withDetachedLog(PostgresMemoryStore.on(connectPg(postgres.url)), createJetStreamLog(connection), {
            hints: createNatsHints(connection),
          });
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
      const target = `${postgres.url} ${servers.urls.join(',')}`;
      const figures = await killWorkers(3, { target, open: () => open(), concurrency: 3, worker });
      await annotate(figures);
      expect(figures).toContain('3 kills');
    });

    it('refuses events of a process that was frozen while its run was taken over', { timeout: 120_000 }, async () => {
      const store = await openEmpty();
      const target = `${postgres.url} ${servers.urls.join(',')}`;
      const frozen = spawn(process.execPath, [worker, target, 'frozen', 't'], { stdio: ['ignore', 'pipe', 'inherit'] });
      const lines = createInterface({ input: frozen.stdout });
      const waitForLine = (start: string): Promise<void> =>
        new Promise((resolve) => lines.on('line', (line) => void (line.startsWith(start) && resolve())));
      const { host } = createWorker(store, { process: 'p2', onTool: () => undefined, sweepMs: 50 });
      onTestFinished(async () => {
        frozen.kill('SIGKILL');
        await host.close();
        await store.close();
      });
      await waitForLine('d t');
      frozen.kill('SIGSTOP');
      const { key, messageId } = (await store.registry.liveRun(store.scope, { threadId: 't' }))!;
      await host.open();
      await vi.waitFor(
        async () => {
          // Postgres may still execute a heartbeat that was sent before.
          await store.registry.retire('frozen');
          expect(await store.registry.liveRun(store.scope, { threadId: 't' })).toBeNull();
        },
        { timeout: 30_000 },
      );
      const logged = await readLog(store.log, key);
      const nextRun = waitForLine('b t');
      frozen.kill('SIGCONT');
      await nextRun;
      expect(logged.filter(({ type }) => type === 'run-end')).toEqual([logged.at(-1)]);
      expect(await readLog(store.log, key)).toEqual(logged);
      const stored = await store.getMessage({ threadId: 't', messageId });
      expect(stored?.content.parts).toEqual(foldEvents(logged)?.content.parts);
    });

    it(
      'continues a run after a restart of all servers without lost or repeated events',
      { timeout: 120_000 },
      async () => {
        const store = await openEmpty();
        const host = createRunHost(store, { onError: () => undefined });
        onTestFinished(async () => {
          await host.close();
          await store.close();
        });
        let restarted: Promise<void> | undefined;
        const restart = async (): Promise<void> => {
          await Promise.all(servers.urls.map((_, index) => servers.kill(index)));
          for (const index of servers.urls.keys()) servers.start(index);
          await servers.waitUntilReady(stream);
        };
        const agent = new Agent({ source: counting(() => void (restarted = restart())), store, host });
        const run = await agent.stream({ threadId: 't', message: 'Count' });
        expect(joinText(await collect(run.events))).toBe(counted);
        await restarted;
        expect(await run.message).toMatchObject({ status: 'complete', content: { parts: [{ text: counted }] } });
        const { key } = await run.record();
        const events: AgentEvent[] = [];
        for (let position = { epoch: 0, seq: 0 }; ;) {
          const page = await store.log.read(key, position);
          events.push(...page.events);
          position = page.position;
          if (position.seq >= page.tail) break;
        }
        expect(joinText(events)).toBe(counted);
        expect(events.at(-1)).toMatchObject({ type: 'run-end', outcome: 'complete' });
      },
    );

    it('serves a configuration with `log: nats({ servers })`', async () => {
      await empty();
      const intertie = await createIntertie({
        agents: { counter: counting(() => undefined) },
        database: postgres.url,
        log: nats({ servers: servers.urls }),
      });
      const run = await intertie.agents.get('counter')!.stream({ threadId: 't', message: 'Count' });
      expect(await run.message).toMatchObject({ status: 'complete', content: { parts: [{ text: counted }] } });
      const { key } = await run.record();
      expect(await createJetStreamLog(connection).positions([key])).toMatchObject(new Map([[key, { ended: true }]]));
      expect(await sql.query('select 1 from intertie.run_events')).toEqual([]);
      await intertie.close();
    });

    it('accepts one of two simultaneous writes that follow the same message', async () => {
      const second = await servers.connect();
      const writers = [connection, second].map((each) => createRunStreams(each));
      const entry = JSON.stringify({ epoch: 1, seq: 1, n: 0, before: 0 });
      for (let n = 0; n < 50; n += 1) {
        const run = `race_${count}_${n}` as RunKey;
        const first = await writers[0]!.publish(run, entry, 0);
        const accepted = await Promise.all(writers.map((writer) => writer.publish(run, entry, first!)));
        expect(accepted.filter((seq) => seq !== null)).toHaveLength(1);
      }
      await second.close();
    });

    if (count === 1) return;

    it.each(['SIGKILL', 'SIGSTOP'] as const)(
      'loses no acknowledged event of 40 runs after a %s of the leader, and refuses a stale writer',
      { timeout: 120_000 },
      async (signal) => {
        const logs = await Promise.all([servers.connect(), servers.connect(), servers.connect()]);
        const writers = logs.map((each) => createJetStreamLog(each, { timeoutMs: 2_000 }));
        const runs = createLoggedRuns(40, `leader_${signal}`);
        await writers[0]!.open();
        const leader = await servers.findLeader(stream);
        let gone: Promise<void> | undefined;
        const halfWay = (): void => void (gone = signal === 'SIGKILL' ? servers.kill(leader) : freeze(servers, leader));
        await runs.write({ logOf: (index) => writers[index % 3]!, batches: 30, paceMs: 5, halfWay });
        await gone;
        // The previous leader continues, and may answer before it knows its successor.
        if (signal === 'SIGKILL') servers.start(leader);
        else servers.thaw(leader);
        await runs.check(writers[1]!);
        const run = `leader_${signal}_0` as RunKey;
        expect(await writers[2]!.own(run, 2)).toBe(31);
        const late = { run, epoch: 1, seq: 31, events: [{ type: 'text-start', id: 'late' }] } as const;
        expect(await writers[0]!.append([late])).toEqual(['fenced']);
        await servers.waitUntilReady(stream);
        await runs.check(writers[0]!);
        await Promise.all(logs.map((each) => each.close()));
      },
    );
  },
);

async function freeze(servers: NatsServers, index: number): Promise<void> {
  servers.freeze(index);
}
