import { expect, test } from 'vitest';
import { newPostgresUrl } from '../../postgres/test/databases.ts';
import { chatThroughChaos } from './chaos.ts';
import { randomFrom, startChaosProxy } from './chaos-proxy.ts';
import { chatBody, postJson, takeEvents } from './client.ts';
import { startNode, type Node } from './nodes.ts';

const rounds = Number(process.env['SOAK_ROUNDS'] ?? 20);

test('many chats through a bad network, on Postgres', async () => {
  const node = await startNode(await newPostgresUrl(), 0.2);
  for (let round = 0; round < rounds; round++) {
    const proxy = await startChaosProxy(node.url, randomFrom(round));
    const texts = Array.from({ length: 20 }, (_, index) =>
      index % 3 === 0 ? 'What is the weather in Oslo?' : 'hello',
    );
    await Promise.all(texts.map((text) => chatThroughChaos(proxy.url, node.url, text)));
    expect(proxy.cuts()).toBeGreaterThan(0);
    await proxy.close();
  }
  await node.kill('SIGTERM');
});

test('a node is killed under load, again and again: every run ends for a reason, and its readers are told', async () => {
  const database = await newPostgresUrl();
  const survivor = await startNode(database, 0.5);
  const ends: { [outcome: string]: number } = {};
  for (let round = 0; round < rounds; round++) {
    const victim: Node = await startNode(database, 0.5);
    const runs = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const body = chatBody(crypto.randomUUID(), 'Write a long answer');
        const response = await postJson(`${victim.url}/api/agents/helper/chat`, body);
        void response.text().catch(() => undefined);
        return response.headers.get('x-intertie-run')!;
      }),
    );
    const readers = runs.map(async (run) =>
      takeEvents(await fetch(`${survivor.url}/api/runs/${run}/events`), () => false),
    );
    await new Promise((resolve) => setTimeout(resolve, 500));
    await victim.kill('SIGKILL');
    for (const events of await Promise.all(readers)) {
      const { type, outcome, error } = events.at(-1)!.data as {
        type: string;
        outcome: string;
        error?: { code: string };
      };
      expect(type).toBe('run-end');
      const key = error ? `${outcome} ${error.code}` : outcome;
      ends[key] = (ends[key] ?? 0) + 1;
    }
  }
  expect(Object.keys(ends)).toEqual(['error lost']);
  await survivor.kill('SIGTERM');
});
