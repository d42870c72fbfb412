import { createInMemoryStore } from '@intertie/core';
import { expect, onTestFinished, test } from 'vitest';
import { startDemoAgents } from '../src/demo/start-demo-agents.ts';
import { serve } from '../src/serve.ts';
import type { IntertieConfig } from '../src/config/config.ts';
import { chatBody, postJson, sendMessage } from './client.ts';

type Calls = {
  calls: Array<{
    kind: string;
    model: string;
    prompt: Array<{ role: string; content: unknown }>;
    tools: Array<{ name: string }>;
    usage?: { inputTokens: number; outputTokens: number };
    costUsd?: number;
    error?: string;
  }>;
};

/** Starts a server with the demo agents. */
async function start(config: Partial<IntertieConfig> = {}): Promise<string> {
  const demo = await startDemoAgents({ pace: 0 });
  const server = await serve({ agents: demo.agents, database: createInMemoryStore(), ...config }, { port: 0 });
  onTestFinished(async () => {
    await server.close();
    await demo.stop();
  });
  return server.url;
}

const read = (url: string, runId: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${url}/api/runs/${runId}/model-calls`, { headers });

test('lists what each step sent to the model, with usage and cost', async () => {
  const url = await start({ prices: { demo: { input: 1, output: 2 } } });
  const { runId } = await sendMessage(url, { thread: 't', text: 'What is the weather in Lisbon?' });
  const { calls } = (await (await read(url, runId)).json()) as Calls;
  expect(calls).toHaveLength(2);
  const [first, second] = calls;
  expect(first).toMatchObject({ kind: 'model', model: 'demo' });
  expect(first!.prompt.at(-1)).toMatchObject({
    role: 'user',
    content: [{ type: 'text', text: 'What is the weather in Lisbon?' }],
  });
  expect(first!.tools.map(({ name }) => name)).toContain('weather');
  expect(second!.prompt.map(({ role }) => role).slice(-3)).toEqual(['user', 'assistant', 'tool']);
  const { inputTokens, outputTokens } = second!.usage!;
  expect(second!.costUsd).toBeCloseTo((inputTokens + 2 * outputTokens) / 1_000_000, 9);
});

test('lists the input of a runtime that calls its models itself', async () => {
  const url = await start();
  const { runId } = await sendMessage(url, { agent: 'swarm', thread: 't', text: 'What is known about tides?' });
  const { calls } = (await (await read(url, runId)).json()) as Calls;
  expect(calls).toMatchObject([
    { kind: 'input', model: 'swarm', prompt: [{ role: 'user', content: [{ text: 'What is known about tides?' }] }] },
  ]);
});

test('records nothing on a server with users, unless recordPrompts is set', async () => {
  const token = 'a-token-of-24-characters';
  const headers = { authorization: `Bearer ${token}` };
  const statuses = [];
  for (const recordPrompts of [undefined, true]) {
    const url = await start({ token, ...(recordPrompts && { recordPrompts }) });
    const response = await postJson(`${url}/api/chat`, chatBody('t', 'hello'), headers);
    await response.text();
    statuses.push((await read(url, response.headers.get('x-intertie-run')!, headers)).status);
  }
  expect(statuses).toEqual([404, 200]);
});

test('shows recorded prompts to operators only', async () => {
  const url = await start({ auth: (request) => ({ id: request.headers.get('user') ?? 'ada' }), recordPrompts: true });
  const { runId } = await sendMessage(url, { thread: 't', text: 'hello' });
  const refused = await read(url, runId);
  expect(refused.status).toBe(403);
  expect(await refused.json()).toMatchObject({ error: { code: 'operators-only' } });
});
