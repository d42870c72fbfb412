import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDemoServer, type DemoServer } from './demo-server.ts';

const agents = ['helper', 'swarm', 'newsroom', 'remote', 'recording'];

let server: DemoServer;
let client: OpenAI;

beforeAll(async () => {
  server = await startDemoServer();
  client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 });
});
afterAll(() => server.close());

describe('the openai client', () => {
  it('lists the agents as models', async () => {
    const models = await client.models.list();
    expect(models.data.map(({ id }) => id)).toEqual(agents);
    expect(await client.models.retrieve('swarm')).toMatchObject({ id: 'swarm', object: 'model' });
  });

  it.each(agents)('streams an answer of %s, and reads the same one without a stream', async (model) => {
    const stream = client.responses.stream({ model, input: 'Hello there' });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    const final = await stream.finalResponse();
    expect(types[0]).toBe('response.created');
    expect(types.at(-1)).toBe('response.completed');
    expect(final.usage).toBeDefined();
    const { output_parsed: _, ...got } = final as typeof final & { output_parsed?: unknown };
    const stored = await client.responses.retrieve(final.id);
    expect(stored.output_text).toBe(got.output_text);
    expect(stored).toMatchObject({ status: 'completed', model, id: final.id });
  });
});
