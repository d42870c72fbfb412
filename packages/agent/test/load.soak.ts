import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { createStore } from '@intertie/postgres';
import { expect, it } from 'vitest';

import { newPostgresUrl } from '../../postgres/test/databases.ts';
import { Agent } from '../src/agent/agent.ts';
import { createRunHost } from '../src/execution/run-host.ts';

const program = fileURLToPath(new URL('load-process.mjs', import.meta.url));
const [runs, perSecond, seconds] = [300, 20, 20];

it(`follows ${runs} runs at ${perSecond} events a second from another process`, async () => {
  const url = await newPostgresUrl();
  const generator = spawn(process.execPath, [program, url, `${runs}`, `${perSecond}`, `${seconds}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: generator.stdout })[Symbol.asyncIterator]();
  const read = async <Value>(): Promise<Value> => JSON.parse((await lines.next()).value as string) as Value;
  const ids = await read<string[]>();

  const store = await createStore(url);
  const host = createRunHost(store);
  const source = { name: 'load', pauses: 'replay' as const, run: () => new ReadableStream<never>() };
  const agent = new Agent({ source, store, host });
  const delays: number[] = [];
  let maxRss = 0;
  const sampling = setInterval(() => void (maxRss = Math.max(maxRss, process.memoryUsage.rss())), 200);
  const cpu = process.cpuUsage();
  const begun = performance.now();
  const follow = async (runId: string): Promise<void> => {
    const run = (await agent.attach(runId))!;
    let next = 0;
    for await (const event of run.events) {
      if (event.type !== 'text-delta') continue;
      const now = Date.now();
      for (const entry of event.delta.trim().split(' ')) {
        const [n, at] = entry.split(':').map(Number);
        expect(n).toBe(next++);
        delays.push(now - at!);
      }
    }
    expect(next).toBe(perSecond * seconds);
  };
  await Promise.all(ids.map(follow));
  const elapsed = performance.now() - begun;
  clearInterval(sampling);
  const used = process.cpuUsage(cpu);
  const generated = await read<{ cpu: number; rss: number; elapsed: number }>();
  await host.close();
  await store.close();

  expect(delays).toHaveLength(runs * perSecond * seconds);
  delays.sort((a, b) => a - b);
  const at = (share: number): number => delays[Math.floor(share * (delays.length - 1))]!;
  const percent = (share: number): string => `${(share * 100).toFixed(0)} % of a core`;
  console.log(
    `${delays.length} events of ${runs} runs, none lost: ${(delays.length / (elapsed / 1000)).toFixed(0)} events/s; ` +
      `event to reader in another process p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, at most ${at(1)} ms; ` +
      `running process ${percent(generated.cpu)}, ${generated.rss.toFixed(0)} MB; ` +
      `reading process ${percent((used.user + used.system) / 1000 / elapsed)}, ${(maxRss / 2 ** 20).toFixed(0)} MB`,
  );
});
