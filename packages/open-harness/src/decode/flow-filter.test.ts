import { createChatHandler } from '@intertie/ai-sdk';
import type { Loss } from '@intertie/core';
import { expect, test } from 'vitest';
import { ReplayRuntime } from '../../test/replay-runtime.ts';
import { findTrace } from '../../test/traces.ts';
import { openHarnessSource, type OpenHarnessSourceOptions } from '../source/open-harness-source.ts';

/** Runs a route and returns its chunk types and its body. */
async function served(options: OpenHarnessSourceOptions): Promise<{ types: Set<string>; body: string }> {
  const handler = createChatHandler(openHarnessSource(() => new ReplayRuntime(findTrace('06')), options));
  const message = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'hello' }] };
  const request = { method: 'POST', body: JSON.stringify({ id: 'chat', messages: [message] }) };
  const body = await (await handler(new Request('http://localhost/api/chat', request))).text();
  return { types: new Set(Array.from(body.matchAll(/"type":"([\w-]+)"/g), ([, type]) => type!)), body };
}

test('sends no flow data from a route by default', async () => {
  const losses: Loss[] = [];
  const { types, body } = await served({ onLoss: (loss) => void losses.push(loss) });
  for (const type of ['data-flow-status', 'data-edge', 'data-node-output']) expect(types).not.toContain(type);
  expect(body).not.toContain('totalCostUsd');
  expect(body).not.toContain('research-flow');
  const withheld = losses.filter(({ why }) => why.endsWith('is off.')).map(({ what }) => what);
  expect(withheld).toEqual(['flow name', 'data-flow-status', 'data-node-output', 'data-edge']);
});

test('applies sendFlowMetadata and sendNodeOutputs of the source to every handler', async () => {
  const flow = await served({ sendFlowMetadata: true });
  expect(flow.types).toContain('data-flow-status');
  expect(flow.types).toContain('data-edge');
  expect(flow.types).not.toContain('data-node-output');
  expect(flow.body).toContain('research-flow');
  const outputs = await served({ sendNodeOutputs: true });
  expect(outputs.types).toContain('data-node-output');
  expect(outputs.types).not.toContain('data-flow-status');
  expect(outputs.body).toContain('totalCostUsd');
});
