import OpenAI from 'openai';
import type { ResponseStreamEvent } from 'openai/resources/responses/responses';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newPostgresUrl } from '../../postgres/test/databases.ts';
import { startNode, type Node } from './nodes.ts';

let nodes: Node[];
beforeAll(async () => {
  const database = await newPostgresUrl();
  nodes = await Promise.all([startNode(database, 1), startNode(database, 1)]);
});
afterAll(() => Promise.all(nodes.map((node) => node.kill('SIGKILL'))));

const connect = ({ url }: Node): OpenAI => new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });

test('continues a stream in another process after the process that ran it was killed', async () => {
  const [first, second] = nodes as [Node, Node];
  const before: ResponseStreamEvent[] = [];
  let id = '';
  const stream = await connect(first).responses.create({ model: 'recording', input: 'Play it', stream: true });
  for await (const event of stream) {
    if (event.type === 'response.created') ({ id } = event.response);
    before.push(event);
    if (event.type === 'response.output_text.delta') break;
  }
  await first.kill('SIGKILL');
  const client = connect(second);
  const last = before.at(-1)!.sequence_number;
  const after: ResponseStreamEvent[] = [];
  for await (const event of await client.responses.retrieve(id, { stream: true, starting_after: last }))
    after.push(event);
  expect(after[0]!.sequence_number).toBe(last + 1);
  expect(after.at(-1)).toMatchObject({ type: 'response.completed' });
  // Both parts are the stream that a client reads which was never interrupted.
  const whole: ResponseStreamEvent[] = [];
  for await (const event of await client.responses.retrieve(id, { stream: true })) whole.push(event);
  expect([...before, ...after]).toEqual(whole);
  // The accumulator of the client accepts it.
  const final = await client.responses.stream({ response_id: id }).finalResponse();
  expect(final.output_text).toBe((await client.responses.retrieve(id)).output_text);
});
