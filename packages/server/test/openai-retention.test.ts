import { createInMemoryStore, type Store } from '@intertie/core';
import { createSweeper } from '@intertie/core/internal';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { askingSource } from './asking-source.ts';
import { startDemoServer, type DemoServer } from './demo-server.ts';
import { liveSource, toolSource } from './tool-source.ts';

const omitParsed = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, field: unknown) => (key.startsWith('parsed') ? undefined : field)));

let store: Store;
let server: DemoServer;
let client: OpenAI;
beforeAll(async () => {
  store = createInMemoryStore();
  const agents = { caller: toolSource(), asker: askingSource(), live: liveSource() };
  server = await startDemoServer({ agents, database: store });
  client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 });
});
afterAll(() => server.close());

/** Drops all logs. A negative retention time also selects runs that have just ended. */
const expireLogs = async (): Promise<void> =>
  void (await createSweeper({ store, process: 'sweeper', logRetentionMs: -60_000 }).sweep());

test('serves the stored answer after the log has expired, and deletes threads with store: false', async () => {
  const kept = await client.responses.create({ model: 'caller', input: 'Keep' });
  const hidden = await client.responses.create({ model: 'caller', input: 'Forget', store: false });
  await expireLogs();
  expect(await client.responses.retrieve(kept.id)).toEqual(omitParsed(kept));
  await expect(client.responses.retrieve(kept.id, { stream: true, starting_after: 1 })).rejects.toMatchObject({
    status: 410,
    code: 'expired',
  });
  await expect(client.responses.retrieve(hidden.id)).rejects.toMatchObject({ status: 404 });
});

test('serves each response of a continued message as it was after the log has expired', async () => {
  const first = await client.responses.create({ model: 'asker', input: 'paint' });
  const [approval, ask] = first.output.slice(-2) as unknown as [{ id: string }, { call_id: string }];
  const second = await client.responses.create({
    model: 'asker',
    previous_response_id: first.id,
    input: [
      { type: 'mcp_approval_response', approval_request_id: approval.id, approve: true },
      { type: 'function_call_output', call_id: ask.call_id, output: 'red' },
    ],
  });
  expect(second.output.map(({ type }) => type)).toEqual(['mcp_call', 'message']);
  const before = await client.responses.inputItems.list(second.id, { order: 'asc' });
  expect(before.data.map(({ type }) => type)).toEqual([
    'message',
    'reasoning',
    'message',
    'mcp_approval_request',
    'function_call',
    'mcp_approval_response',
    'function_call_output',
  ]);
  await expireLogs();
  expect(await client.responses.retrieve(first.id)).toEqual(omitParsed(first));
  expect(await client.responses.retrieve(second.id)).toEqual(omitParsed(second));
  expect((await client.responses.inputItems.list(second.id, { order: 'asc' })).data).toEqual(before.data);
  const final = await client.responses.stream({ response_id: second.id }).finalResponse();
  expect(omitParsed(final.output)).toEqual(omitParsed(second.output));
});

test('serves both responses of a run that waited in its process after the log has expired', async () => {
  const first = await client.responses.create({ model: 'live', input: 'Night trains' });
  const request = first.output.find(({ type }) => type === 'mcp_approval_request');
  const second = await client.responses.create({
    model: 'live',
    previous_response_id: first.id,
    input: [{ type: 'mcp_approval_response', approval_request_id: request!.id!, approve: true }],
  });
  await expireLogs();
  expect((await client.responses.retrieve(first.id)).output).toEqual(omitParsed(first.output));
  expect((await client.responses.retrieve(second.id)).output).toEqual(omitParsed(second.output));
  await expect(client.responses.retrieve(second.id, { stream: true })).rejects.toMatchObject({ status: 410 });
});
