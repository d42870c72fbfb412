import { afterAll, beforeAll, expect, test } from 'vitest';
import { chatThroughChaos } from './chaos.ts';
import { randomFrom, startChaosProxy, type ChaosProxy } from './chaos-proxy.ts';
import { startDemoServer, type DemoServer } from './demo-server.ts';

let server: DemoServer;
let proxy: ChaosProxy;
beforeAll(async () => {
  server = await startDemoServer({ pace: 0.1, limits: { requestsPerSecond: 10_000 } });
  proxy = await startChaosProxy(server.url, randomFrom(7));
});
afterAll(async () => {
  await proxy.close();
  await server.close();
});

test('delivers the stored message to every reader over a network that cuts, stalls and repeats requests', async () => {
  const texts = ['hello', 'What is the weather in Lisbon?', 'Draw a chart', 'hello'];
  const ends = await Promise.all(texts.map((text) => chatThroughChaos(proxy.url, server.url, text)));
  expect(ends).toEqual(texts.map(() => 'complete'));
  expect(proxy.cuts()).toBeGreaterThan(0);
  expect(proxy.doubles()).toBeGreaterThan(0);
});
