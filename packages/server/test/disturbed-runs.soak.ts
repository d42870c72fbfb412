import { expect, test } from 'vitest';
import { newPostgresUrl } from '../../postgres/test/databases.ts';
import { startOwnServer } from '../../postgres/test/own-server.ts';
import { chatThroughChaos } from './chaos.ts';
import { randomFrom, startChaosProxy } from './chaos-proxy.ts';
import { disturbRuns } from './disturbed-runs.ts';
import { startNode } from './nodes.ts';

const rounds = Number(process.env['SOAK_ROUNDS'] ?? 20);
const chats = 20;

test('completes many chats over a bad network on Postgres', async () => {
  const node = await startNode(await newPostgresUrl(), 0.2);
  for (let round = 0; round < rounds; round++) {
    const proxy = await startChaosProxy(node.url, randomFrom(round));
    const texts = Array.from({ length: chats }, (_, index) =>
      index % 3 === 0 ? 'What is the weather in Oslo?' : 'hello',
    );
    await Promise.all(texts.map((text) => chatThroughChaos(proxy.url, node.url, text)));
    expect(proxy.cuts()).toBeGreaterThan(0);
    expect(proxy.doubles()).toBeGreaterThan(0);
    await proxy.close();
  }
  await node.kill('SIGTERM');
});

test('ends every run and informs its readers if nodes are killed under load', async () => {
  const database = await newPostgresUrl();
  const survivor = await startNode(database, 0.5);
  const all = { complete: 0, 'error lost': 0 };
  for (let round = 0; round < rounds; round++) {
    const victim = await startNode(database, 0.5);
    const disturb = (): Promise<void> => victim.kill('SIGKILL');
    const ends = await disturbRuns({ nodes: [victim, survivor], survivor, chats, agent: 'forgetful', disturb });
    all.complete += ends['complete'] ?? 0;
    all['error lost'] += ends['error lost'] ?? 0;
  }
  expect(all.complete + all['error lost']).toBe(rounds * chats);
  expect(all['error lost']).toBeGreaterThan(0);
  await survivor.kill('SIGTERM');
});

test('ends every run if the database is restarted under load', async () => {
  const server = await startOwnServer();
  const nodes = [await startNode(server.url, 0.5), await startNode(server.url, 0.5)];
  for (let round = 0; round < rounds; round++) {
    const awayMs = 500 * round;
    const disturb = async (): Promise<void> => {
      await server.stop();
      await new Promise((resolve) => setTimeout(resolve, awayMs));
      await server.start();
    };
    const ends = await disturbRuns({ nodes, survivor: nodes[0]!, chats, disturb });
    process.stdout.write(`away for ${awayMs} ms: ${JSON.stringify(ends)}\n`);
    // If the outage exceeds the lease, the first node that is back may take over the runs of the other.
    const known = (ends['complete'] ?? 0) + (ends['error lost'] ?? 0);
    expect([known, ends]).toEqual([chats, ends]);
  }
  for (const node of nodes) await node.kill('SIGTERM');
  await server.remove();
});
