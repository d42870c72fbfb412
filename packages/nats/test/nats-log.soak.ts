import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { Agent, createRunHost } from '@intertie/agent';
import { foldEvents, withDetachedLog, type AgentEvent, type AgentSource, type Store } from '@intertie/core';
import type { RunKey } from '@intertie/core/store';
import { createStore } from '@intertie/postgres';
import type { NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { killWorkers } from '../../agent/test/kill-workers.ts';
import { newPostgresUrl } from '../../postgres/test/databases.ts';
import { createJetStreamLog, createNatsHints } from '../src/index.ts';
import { createLoggedRuns } from './logged-runs.ts';
import { natsVersion, startNats, type NatsServers } from './nats-servers.mjs';

const stream = 'intertie-runs';
const runs = Number(process.env['SOAK_RUNS'] ?? 300);
const deltas = 150;
const worker = fileURLToPath(new URL('worker-process.mjs', import.meta.url));

type Fault = { name: string; run: (servers: NatsServers, leader: number) => Promise<void> };

/** Faults of a cluster. Each ends with all servers running. */
const faults: Fault[] = [
  {
    name: 'SIGKILL of the leader',
    async run(servers, leader) {
      await servers.kill(leader);
      await sleep(5_000);
      servers.start(leader);
    },
  },
  {
    name: 'SIGSTOP of the leader for 15 s',
    async run(servers, leader) {
      servers.freeze(leader);
      await sleep(15_000);
      servers.thaw(leader);
    },
  },
  {
    name: 'SIGKILL of all three servers',
    async run(servers) {
      await Promise.all([0, 1, 2].map((index) => servers.kill(index)));
      for (const index of [0, 1, 2]) servers.start(index);
    },
  },
];

describe(`three NATS servers, version ${natsVersion}`, () => {
  let servers: NatsServers;
  let connections: NatsConnection[];
  beforeAll(async () => {
    servers = await startNats(3);
    connections = await Promise.all([0, 1, 2].map(() => servers.connect()));
    await createJetStreamLog(connections[0]!).open();
  });
  afterAll(async () => {
    await Promise.all(connections.map((connection) => connection.close()));
    await servers.stop();
  });

  it.each(faults)(
    `delivers the stored message to every reader of ${runs} runs after a $name`,
    async ({ name, run }) => {
      const url = await newPostgresUrl();
      const open = async (connection: NatsConnection): Promise<Store> =>
        withDetachedLog(await createStore(url), createJetStreamLog(connection), { hints: createNatsHints(connection) });
      const stores = [await open(connections[0]!), await open(connections[1]!)];
      const hosts = stores.map((store) => createRunHost(store, { onError: () => undefined }));
      const [agent, follower] = stores.map(
        (store, index) => new Agent({ source: counter, store, host: hosts[index]! }),
      );
      const started = await Promise.all(
        Array.from({ length: runs }, (_, n) => agent!.stream({ threadId: `t${n}`, message: 'Count' })),
      );
      const disturbed = sleep(1_500).then(async () => run(servers, await servers.findLeader(stream)));
      // Half of the readers are in the process of the run, the others read the log.
      const texts = await Promise.all(
        started.map(async ({ runId, events }, n) => {
          const reader = n % 2 === 0 ? { events } : (await follower!.attach(runId, { threadId: `t${n}` }))!;
          const all: AgentEvent[] = [];
          for await (const event of reader.events) all.push(event);
          expect(all.filter(({ type }) => type === 'run-end')).toHaveLength(1);
          return joinText(foldEvents(all)!.content.parts);
        }),
      );
      await disturbed;
      for (const [n, each] of started.entries()) {
        const { status, content } = await each.message;
        expect([n, status, texts[n]]).toEqual([n, 'complete', joinText(content.parts)]);
        expect(texts[n]).toBe(counted);
      }
      await servers.waitUntilReady(stream);
      console.log(`${name}: ${runs} runs, ${runs * deltas} deltas, every reader has the stored message`);
      for (const host of hosts) await host.close();
      for (const store of stores) await store.close();
    },
  );

  it.each(faults)('stores a million acknowledged events in order, with a $name', async ({ name, run }) => {
    const logs = connections.map((connection) => createJetStreamLog(connection));
    const prefix = name.replaceAll(/\W/g, '');
    const written = createLoggedRuns(500, prefix);
    const leader = await servers.findLeader(stream);
    let disturbed: Promise<void> | undefined;
    const halfWay = (): void => void (disturbed = run(servers, leader));
    const startedAt = performance.now();
    const figures = await written.write({
      logOf: (index) => logs[index % 3]!,
      batches: 100,
      eventsPerBatch: 20,
      halfWay,
    });
    const seconds = (performance.now() - startedAt) / 1000;
    await disturbed;
    await servers.waitUntilReady(stream);
    await written.check(logs[1]!);
    // A stale writer is refused, whichever server it is connected to.
    const stale = `${prefix}_0` as RunKey;
    expect(await logs[1]!.own(stale, 2)).toBe(2001);
    const late = { run: stale, epoch: 1, seq: 2001, events: [{ type: 'text-start', id: 'late' }] } as const;
    for (const log of logs) expect(await log.append([late])).toEqual(['fenced']);
    const { acknowledged, retries, pauseMs } = figures;
    console.log(
      `${name}: ${acknowledged * 20} events in ${acknowledged} messages in ${seconds.toFixed(0)} s, ` +
        `longest time without an acknowledgement ${(pauseMs / 1000).toFixed(1)} s, ${retries} retries, none lost`,
    );
  });

  it('survives 30 SIGKILLs of a process that runs tools and approvals', async () => {
    const url = await newPostgresUrl();
    const target = `${url} ${servers.urls.join(',')}`;
    const open = async (): Promise<Store> =>
      withDetachedLog(await createStore(url), createJetStreamLog(connections[0]!), {
        hints: createNatsHints(connections[0]!),
      });
    const figures = await killWorkers(30, { target, open, concurrency: 3, worker });
    console.log(figures);
    expect(figures).toContain('30 kills');
  });
});

const counted = Array.from({ length: deltas }, (_, n) => `${n} `).join('');

/** Counts, one delta every 40 ms. */
const counter: AgentSource = {
  name: 'counter',
  pauses: 'replay',
  run: ({ runId, threadId, messageId }) =>
    new ReadableStream<AgentEvent>({
      async start(controller) {
        controller.enqueue({ type: 'run-start', runId, threadId, messageId });
        controller.enqueue({ type: 'text-start', id: 'p' });
        for (let n = 0; n < deltas; n++) {
          controller.enqueue({ type: 'text-delta', id: 'p', delta: `${n} ` });
          await sleep(40);
        }
        controller.enqueue({ type: 'text-end', id: 'p' });
        controller.enqueue({ type: 'run-end', outcome: 'complete' });
        controller.close();
      },
    }),
};

function joinText(parts: ReadonlyArray<{ type: string; text?: string }>): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
