import { expect, test } from 'vitest';
import { newPostgresUrl } from '../../postgres/test/databases.ts';
import { chatBody, postJson, readEvents, say } from './client.ts';
import { startNode } from './nodes.ts';

const streams = Number(process.env['SOAK_STREAMS'] ?? 300);
const perSecond = Number(process.env['SOAK_REQUESTS'] ?? 50);

const quantile = (values: number[], part: number): number =>
  Math.round(values.toSorted((a, b) => a - b)[Math.floor(part * (values.length - 1))] ?? 0);

test(`${streams} live streams and ${perSecond} requests of history a second, on one node`, async () => {
  const node = await startNode(await newPostgresUrl(), 2);
  await say(node.url, { thread: 'history', text: 'What is the weather in Lisbon?' });
  const first: number[] = [];
  const gaps: number[] = [];
  const history: number[] = [];
  const began = performance.now();
  const ends = Promise.all(
    Array.from({ length: streams }, async (_, index) => {
      await new Promise((resolve) => setTimeout(resolve, index * 10));
      const sent = performance.now();
      const body = chatBody(crypto.randomUUID(), 'Write a long answer');
      const response = await postJson(`${node.url}/api/agents/helper/chat`, body);
      await response.body?.cancel();
      let last = 0;
      let end: unknown;
      const run = response.headers.get('x-intertie-run');
      for await (const { data } of readEvents(await fetch(`${node.url}/api/runs/${run}/events`))) {
        const now = performance.now();
        if (last === 0) first.push(now - sent);
        else gaps.push(now - last);
        last = now;
        end = data;
      }
      return end as { type: string; outcome: string };
    }),
  );
  const over = new AbortController();
  const asking = (async () => {
    while (!over.signal.aborted) {
      const sent = performance.now();
      void fetch(`${node.url}/api/threads/history/messages?format=ui`)
        .then((response) => response.text())
        .then(() => history.push(performance.now() - sent));
      await new Promise((resolve) => setTimeout(resolve, 1000 / perSecond));
    }
  })();
  const all = await ends;
  over.abort();
  await asking;
  expect(all.every(({ type, outcome }) => type === 'run-end' && outcome === 'complete')).toBe(true);
  const metrics = await (await fetch(`${node.url}/metrics`)).text();
  const cpu = Number(/^intertie_cpu_seconds ([\d.]+)/m.exec(metrics)?.[1]);
  const heap = Number(/^intertie_heap_bytes (\d+)/m.exec(metrics)?.[1]);
  const figures = {
    seconds: Math.round((performance.now() - began) / 1000),
    'first event p50/p99 ms': [quantile(first, 0.5), quantile(first, 0.99)],
    'between events p50/p99 ms': [quantile(gaps, 0.5), quantile(gaps, 0.99)],
    'history p50/p99 ms': [quantile(history, 0.5), quantile(history, 0.99)],
    'requests of history': history.length,
    'cpu seconds': Math.round(cpu),
    'heap MB': Math.round(heap / 1e6),
  };
  process.stdout.write(`${JSON.stringify(figures)}\n`);
  await node.kill('SIGTERM');
});
