import { createInMemoryStore } from '@intertie/core';
import { createSweeper } from '@intertie/core/internal';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { startDemoServer } from './demo-server.ts';
import { toolSource } from './tool-source.ts';

test('serves the stored answer after the log has expired, and deletes threads with store: false', async () => {
  const store = createInMemoryStore();
  const server = await startDemoServer({ agents: { caller: toolSource() }, database: store });
  try {
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 });
    const kept = await client.responses.create({ model: 'caller', input: 'Keep' });
    const hidden = await client.responses.create({ model: 'caller', input: 'Forget', store: false });
    // A negative retention time also selects runs that have just ended.
    await createSweeper({ store, process: 'sweeper', logRetentionMs: -60_000 }).sweep();
    expect((await client.responses.retrieve(kept.id)).output_text).toBe(kept.output_text);
    await expect(client.responses.retrieve(kept.id, { stream: true, starting_after: 1 })).rejects.toMatchObject({
      status: 410,
    });
    await expect(client.responses.retrieve(hidden.id)).rejects.toMatchObject({ status: 404 });
  } finally {
    await server.close();
  }
});
