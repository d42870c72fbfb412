import { createInMemoryStore } from '@intertie/core';
import { expect, test, vi } from 'vitest';
import { sendMessage } from './client.ts';
import { startDemoServer } from './demo-server.ts';

type Sample = { name: string; labels: string; value: number };

/** Reads the text format of Prometheus, and checks that every sample has a HELP and a TYPE line before it. */
function parse(text: string): Sample[] {
  const types = new Map<string, string>();
  const helped = new Set<string>();
  const seen = new Set<string>();
  return text
    .trimEnd()
    .split('\n')
    .flatMap((line) => {
      const [, comment, named, rest] = /^# (HELP|TYPE) (\w+) (.+)$/.exec(line) ?? [];
      if (comment === 'HELP') helped.add(named!);
      if (comment === 'TYPE') types.set(named!, rest!);
      if (comment !== undefined) return [];
      const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? (-?[\d.e+-]+)$/.exec(line) ?? [];
      expect(name, line).toBeDefined();
      const family = types.has(name!) ? name! : name!.replace(/_(bucket|sum|count)$/, '');
      expect([family, types.has(family), helped.has(family)]).toEqual([family, true, true]);
      expect(seen.has(`${name}{${labels}}`), line).toBe(false);
      seen.add(`${name}{${labels}}`);
      return [{ name: name!, labels, value: Number(value) }];
    });
}

test('shows the metrics of runs, flushes, readers and pools after a run', async () => {
  const store = createInMemoryStore();
  store.connections = () => ({ hot: { total: 2, idle: 1, waiting: 0 }, requests: { total: 8, idle: 0, waiting: 3 } });
  const server = await startDemoServer({ database: store });
  const read = async (): Promise<Sample[]> => parse(await (await fetch(`${server.url}/metrics`)).text());
  const findValue = (samples: readonly Sample[], name: string, labels = ''): number | undefined =>
    samples.find((sample) => sample.name === `intertie_${name}` && sample.labels === labels)?.value;

  const before = await read();
  expect(findValue(before, 'runs_total', 'agent="helper",outcome="error"')).toBe(0);
  expect(findValue(before, 'takeovers_total', 'agent="helper"')).toBe(0);
  expect(findValue(before, 'flush_failures_total')).toBe(0);

  await sendMessage(server.url, { thread: 't', text: 'hello' });
  const after = await vi.waitFor(async () => {
    const samples = await read();
    expect(findValue(samples, 'runs_total', 'agent="helper",outcome="complete"')).toBe(1);
    return samples;
  });
  expect(findValue(after, 'first_event_seconds_count', 'agent="helper"')).toBe(1);
  expect(findValue(after, 'flush_seconds_count')).toBeGreaterThan(0);
  expect(findValue(after, 'flush_seconds_bucket', 'le="+Inf"')).toBe(findValue(after, 'flush_seconds_count'));
  expect(findValue(after, 'reader_lag_seconds_count')).toBeGreaterThan(0);
  expect(findValue(after, 'runs_running')).toBe(0);
  expect(findValue(after, 'event_loop_delay_seconds')).toBeGreaterThanOrEqual(0);
  expect(findValue(after, 'pool_connections', 'pool="requests"')).toBe(8);
  expect(findValue(after, 'pool_idle_connections', 'pool="hot"')).toBe(1);
  expect(findValue(after, 'pool_waiting', 'pool="requests"')).toBe(3);
  await server.close();
});

test('has no label value that a client chooses', async () => {
  const server = await startDemoServer();
  for (const path of ['/api/threads/secret-1/messages', '/nothing/secret-2', '/api/agents/secret-3/topology']) {
    await fetch(server.url + path);
  }
  await server.intertie.fetch(new Request('http://localhost/api/agents', { method: 'SECRET-4' }));
  expect(await (await fetch(`${server.url}/metrics`)).text()).not.toMatch(/secret/i);
  await server.close();
});
