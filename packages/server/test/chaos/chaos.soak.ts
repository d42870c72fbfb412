import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { chatMajors } from '../../../ai-sdk/test/chats.ts';
import { natsVersion, startNats, type NatsServers } from '../../../nats/test/nats-servers.mjs';
import { startFaultProxy, type FaultProxy } from '../../../postgres/test/fault-proxy.ts';
import { startBalancer } from '../balancer.ts';
import { randomFrom } from '../chaos-proxy.ts';
import { spawnNode, type Node } from '../nodes.ts';
import { startChaosDatabase, startPgBouncer, type ChaosDatabase } from './chaos-database.ts';
import { describeThread } from './chaos-evidence.ts';
import { addFault, agUiUser, chatUser, logUser, newTally, readers, type Scene, type User } from './chaos-users.ts';

// `npm run soak -- chaos`: three nodes on one Postgres, two of them through PgBouncer, and one of those with a clock that jumps.
// Needs Debian's postgresql, pgbouncer and faketime, and root. CHAOS_MINUTES and CHAOS_SEED vary it. With CHAOS_LOG=nats the run log
// is on three NATS servers, which fail too.
const minutes = Number(process.env['CHAOS_MINUTES'] ?? 10);
const seed = Number(process.env['CHAOS_SEED'] ?? 1);
/** Time after the last fault in which everything must end: the lease, two sweeps, and the longest answer. */
const quietMs = 150_000;
const library = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';
const program = fileURLToPath(new URL('chaos-node.mjs', import.meta.url));

type Cluster = {
  database: ChaosDatabase;
  /** Servers of the log, if it is not in the database. */
  log: NatsServers | undefined;
  proxies: FaultProxy[];
  nodes: Node[];
  restart(index: number): Promise<void>;
};
type Disturbance = { name: string; run(cluster: Cluster): Promise<void> };

test(`keeps every guarantee during ${minutes} minutes of faults`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'intertie-chaos-files-'));
  const [effects, clock] = [join(folder, 'effects'), join(folder, 'clock')];
  writeFileSync(effects, '');
  writeFileSync(clock, '+0');
  const random = randomFrom(seed);
  const database = await startChaosDatabase();
  const log = process.env['CHAOS_LOG'] === 'nats' ? await startNats(3) : undefined;
  const bouncer = await startPgBouncer(database.url);
  const proxies = [
    await startFaultProxy(bouncer.url),
    await startFaultProxy(bouncer.url),
    await startFaultProxy(database.url),
  ];
  const start = (index: number): Promise<Node> =>
    startChaosNode([proxies[index]!.url, effects, log?.urls.join(',') ?? ''], index === 1 ? fakeClock(clock) : {});
  const nodes: Node[] = [];
  for (const index of proxies.keys()) nodes.push(await start(index));
  const restart = async (index: number): Promise<void> => {
    await nodes[index]!.kill('SIGKILL');
    nodes[index] = await start(index);
  };
  const balancer = await startBalancer(nodes);
  const tally = newTally();
  const endsAt = Date.now() + minutes * 60_000;
  const scene: Scene = { base: balancer.url, tally, random, isOver: () => Date.now() > endsAt };
  const users: User[] = [...chatMajors.map(chatUser), agUiUser, ...readers.map(logUser)];
  const chatting = [...users, ...users].map((user, index) => user(scene, `user-${index}`));
  for (const promise of chatting) promise.catch((error: unknown) => tally.faults.push(String(error)));

  const done: { [name: string]: number } = {};
  const steps: string[] = [];
  const cluster: Cluster = { database, log, proxies, nodes, restart };
  const all = log ? interleave(logDisturbances(log), disturbances(random, clock)) : disturbances(random, clock);
  for (let round = 0; Date.now() < endsAt; round += 1) {
    const { name, run } = all[round % all.length]!;
    steps.push(`${new Date().toISOString()} ${name}`);
    await run(cluster);
    done[name] = (done[name] ?? 0) + 1;
    await sleep(1000 + 4000 * random());
  }
  // All faults are over, so every open run must end now.
  writeFileSync(clock, '+0');
  for (const proxy of proxies) proxy.resume();
  await database.start();
  await Promise.race([Promise.allSettled(chatting), sleep(quietMs)]);
  for (const [name, { operation, thread, trace }] of tally.waits) {
    const fault = `${name} still waits ${quietMs / 1000} s after the last fault: ${operation}`;
    addFault(tally, fault, { thread, ...(trace && { trace: trace.lines }) });
  }

  await sleep(20_000);
  await checkStored(database, tally);
  const effectLines = readFileSync(effects, 'utf8').split('\n').filter(Boolean);
  const twice = effectLines.filter((line, index) => effectLines.indexOf(line) !== index);
  for (const line of twice) tally.faults.push(`a tool ran twice: ${line}`);
  const messages = [...tally.acknowledged.values()].reduce((sum, ids) => sum + ids.length, 0);
  const figures = {
    seed,
    log: log ? `NATS ${natsVersion}` : 'Postgres',
    disturbances: done,
    turns: tally.turns,
    ends: tally.ends,
    'messages acknowledged': messages,
    'tools run': effectLines.length,
    'questions answered twice at once': tally.approvals,
    retries: tally.retries,
    faults: tally.faults,
  };
  process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
  for (const evidence of tally.evidence) {
    const state = await describeThread(database, log, evidence.thread).catch(String);
    process.stdout.write(`${JSON.stringify({ evidence, state, steps }, null, 1)}\n`);
  }
  const report = process.env['CHAOS_REPORT'];
  if (report) appendFileSync(report, `${JSON.stringify(figures)}\n`);

  for (const node of nodes) await node.kill('SIGKILL');
  await balancer.close();
  for (const proxy of proxies) await proxy.close();
  bouncer.stop();
  await log?.stop();
  await database.remove();
  rmSync(folder, { recursive: true, force: true });
  expect(tally.faults).toEqual([]);
  expect(messages).toBeGreaterThan(0);
});

/** The faults in a repeating order. The affected node or connection is random. */
function disturbances(random: () => number, clock: string): Disturbance[] {
  const any = (): number => Math.floor(random() * 3);
  return [
    { name: 'SIGKILL of a node', run: ({ restart }) => restart(any()) },
    { name: 'connections cut', run: async ({ proxies }) => proxies[any()]!.cut() },
    { name: 'replies to commits lost', run: loseReplies },
    { name: 'pg_terminate_backend', run: ({ database }) => database.terminateBackends().catch(() => undefined) },
    { name: 'database frozen for 5 s', run: ({ database }) => database.freeze(5000) },
    { name: 'database restarted', run: ({ database }) => restartDatabase(database, 'fast', 2000) },
    { name: 'clock of a node an hour ahead', run: async () => writeFileSync(clock, '+3600') },
    { name: 'SIGKILL of a node', run: ({ restart }) => restart(any()) },
    { name: 'database crashed', run: ({ database }) => restartDatabase(database, 'immediate', 500) },
    { name: 'connections silent for 20 s', run: ({ proxies }) => silence(proxies[any()]!, 20_000) },
    { name: 'clock of a node an hour behind', run: async () => writeFileSync(clock, '-3600') },
    { name: 'database frozen for 20 s', run: ({ database }) => database.freeze(20_000) },
    { name: 'full disk', run: ({ database }) => database.fillDisk(5000) },
    { name: 'SIGKILL of a node', run: ({ restart }) => restart(any()) },
    { name: 'database frozen for 60 s', run: ({ database }) => database.freeze(60_000) },
  ];
}

/** The faults of the log's servers. Each ends with all of them running. */
function logDisturbances(log: NatsServers): Disturbance[] {
  const stream = 'intertie-runs';
  return [
    {
      name: 'SIGKILL of the leader of the log',
      async run() {
        const leader = await log.findLeader(stream);
        await log.kill(leader);
        await sleep(4000);
        log.start(leader);
      },
    },
    {
      name: 'leader of the log frozen for 12 s',
      async run() {
        const leader = await log.findLeader(stream);
        log.freeze(leader);
        await sleep(12_000);
        log.thaw(leader);
      },
    },
    {
      name: 'SIGKILL of all servers of the log',
      async run() {
        for (const index of log.urls.keys()) await log.kill(index);
        for (const index of log.urls.keys()) log.start(index);
      },
    },
  ];
}

/** Repeats `first` between the items of `second`. */
function interleave<Item>(first: readonly Item[], second: readonly Item[]): Item[] {
  return second.flatMap((item, index) => [first[index % first.length]!, item]);
}

async function loseReplies({ proxies }: Cluster): Promise<void> {
  for (const proxy of proxies) {
    for (let count = 0; count < 3; count += 1) void proxy.once(/^commit|insert into/i, { kind: 'drop-reply' });
  }
  await sleep(3000);
}

async function restartDatabase(database: ChaosDatabase, mode: 'fast' | 'immediate', awayMs: number): Promise<void> {
  await database.stop(mode);
  await sleep(awayMs);
  await database.start();
}

async function silence(proxy: FaultProxy, ms: number): Promise<void> {
  proxy.silence();
  await sleep(ms);
  proxy.resume();
}

/** Compares the database with what the server has acknowledged. */
async function checkStored(database: ChaosDatabase, tally: ReturnType<typeof newTally>): Promise<void> {
  const runs = await database.query<{ id: string; thread: string; state: string; code: string | null }>(
    `select r.client_run_id as id, t.key as thread, r.state, r.outcome->'error'->>'code' as code
     from intertie.runs r join intertie.threads t on t.id = r.thread_id`,
  );
  for (const { id, thread, state, code } of runs) {
    if (state === 'running' || state === 'queued') addFault(tally, `the run ${id} has no end: ${state}`, { thread });
    if (code === 'log-lost') addFault(tally, `the log of the run ${id} lost events`, { thread });
  }
  const rows = await database.query<{ thread: string; id: string }>(
    `select t.key as thread, coalesce(m.client_id, m.id) as id from intertie.conversation_message m
     join intertie.threads t on t.id = m.thread_id where m.role = 'user' order by m.seq`,
  );
  for (const [thread, ids] of tally.acknowledged) {
    const stored = rows.filter((row) => row.thread === thread).map(({ id }) => id);
    if (JSON.stringify(stored) !== JSON.stringify(ids))
      addFault(tally, `acknowledged ${ids.length} messages, stored ${stored.length}, or in another order`, { thread });
  }
}

function fakeClock(file: string): NodeJS.ProcessEnv {
  return {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
}

async function startChaosNode(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Node> {
  for (let tries = 0; tries <= 30; tries += 1) {
    const node = await spawnNode(program, args, env);
    if (node) return node;
    await sleep(1000);
  }
  throw new Error('The node did not start.');
}
