import { createInMemoryStore } from '@intertie/core';
import { afterEach, expect, test, vi } from 'vitest';
import type { IntertieConfig } from '../src/config/config.ts';
import { serve, type ServedIntertie } from '../src/serve.ts';
import { askingSource } from './asking-source.ts';
import { chatBody, postJson } from './client.ts';

const agents = { asker: askingSource() };
const servers: ServedIntertie[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function start(limits: IntertieConfig['limits']): Promise<string> {
  const server = await serve({ agents, database: createInMemoryStore(), limits: limits ?? {} }, { port: 0 });
  servers.push(server);
  return server.url;
}

async function sendText(
  url: string,
  thread: string,
  text: string,
): Promise<{ status: number; runId: string; body: string }> {
  const response = await postJson(`${url}/api/chat`, chatBody(thread, text));
  const runId = response.headers.get('x-intertie-run') ?? '';
  if (text === 'slow') await response.body?.cancel();
  return { status: response.status, runId, body: text === 'slow' ? '' : await response.text() };
}

function agUiBody(threadId: string): string {
  const messages = [{ id: 'm', role: 'user', content: 'hello' }];
  return JSON.stringify({ threadId, runId: 'r', state: {}, messages, tools: [], context: [], forwardedProps: {} });
}

test('refuses new runs at limits.runs in every protocol, and still reads, answers and stops', async () => {
  const url = await start({ runs: 1 });
  const paused = await sendText(url, 'paused', 'paint');
  const slow = await vi.waitFor(async () => {
    const started = await sendText(url, 'slow', 'slow');
    expect(started.status).toBe(200);
    return started;
  });
  const json = { 'content-type': 'application/json' };
  const refused = [
    await postJson(`${url}/api/chat`, chatBody('new', 'hello')),
    await fetch(`${url}/api/agents/asker/ag-ui`, { method: 'POST', headers: json, body: agUiBody('new') }),
  ];
  for (const response of refused) {
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await response.json()).toMatchObject({ error: { code: 'overloaded', docs: '/api/errors/overloaded' } });
  }
  expect((await fetch(`${url}/api/threads/new/messages`)).status).toBe(404);
  expect((await fetch(`${url}/api/threads/paused/messages`)).status).toBe(200);
  const answers = [
    { questionId: 'q1', approved: true },
    { questionId: 'q2', value: 'red' },
  ];
  const answered = await postJson(`${url}/api/runs/${paused.runId}/answers`, { answers });
  const { verdicts, run } = (await answered.json()) as { verdicts: unknown[]; run: { runId: string } };
  expect(verdicts).toMatchObject([{ result: 'accepted' }, { result: 'accepted' }]);
  expect(await (await fetch(`${url}/api/runs/${run.runId}/events`)).text()).toContain('You said yes and red.');
  expect((await postJson(`${url}/api/runs/${slow.runId}/stop`, {})).status).toBe(200);
  await vi.waitFor(async () => expect((await sendText(url, 'next', 'hello')).status).toBe(200), { timeout: 10_000 });
  const metrics = await (await fetch(`${url}/metrics`)).text();
  expect(Number(/^intertie_runs_refused_total\{agent="asker"\} (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThanOrEqual(2);
});

test('refuses new runs while the event loop is slower than limits.eventLoopDelayMs', async () => {
  // Below the delay of any machine. Two seconds must pass.
  const url = await start({ eventLoopDelayMs: 1e-9 });
  await vi.waitFor(async () => expect((await sendText(url, 'next', 'hello')).status).toBe(503), { timeout: 30_000 });
  expect((await fetch(`${url}/api/threads`)).status).toBe(200);
});

test('keeps the default of a limit that is given as undefined', async () => {
  const limits: object = { jsonBytes: undefined };
  const url = await start(limits);
  const response = await postJson(`${url}/api/chat`, chatBody('t', 'x y '.repeat(1_000_000)));
  expect(response.status).toBe(413);
});
