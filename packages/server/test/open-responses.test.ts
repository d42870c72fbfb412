import { check } from '@intertie/conformance';
import { openai } from '@intertie/openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postJson, readEvents } from './client.ts';
import { startDemoServer, type DemoServer } from './demo-server.ts';

/** Cases of the Open Responses compliance suite, and the fields that its schema requires. */
const requiredFields = [
  'id',
  'object',
  'created_at',
  'completed_at',
  'status',
  'incomplete_details',
  'model',
  'previous_response_id',
  'instructions',
  'output',
  'error',
  'tools',
  'tool_choice',
  'truncation',
  'parallel_tool_calls',
  'text',
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'top_logprobs',
  'temperature',
  'reasoning',
  'usage',
  'max_output_tokens',
  'max_tool_calls',
  'store',
  'background',
  'service_tier',
  'metadata',
  'safety_identifier',
  'prompt_cache_key',
];
const itemTypes = new Set(['message', 'reasoning', 'function_call', 'function_call_output']);

type Item = { type: string; content?: Array<{ text: string }> };
type Body = { [field: string]: unknown; output: Item[] };

let server: DemoServer;
beforeAll(async () => void (server = await startDemoServer({ limits: { requestsPerSecond: 10_000 } })));
afterAll(() => server.close());

const send = (body: object): Promise<Response> => postJson(`${server.url}/open-responses/v1/responses`, body);

function expectComplete(body: Body): void {
  expect(requiredFields.filter((field) => !(field in body))).toEqual([]);
  expect(body).toMatchObject({ object: 'response', status: 'completed', error: null });
  for (const { type } of body.output) expect(itemTypes).toContain(type);
}

const user = (content: unknown) => ({ type: 'message', role: 'user', content });
const weather = {
  type: 'function',
  name: 'get_weather',
  description: 'Weather of a place',
  parameters: { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] },
};

describe.each(['helper', 'swarm', 'newsroom'])('Open Responses with %s', (model) => {
  it.each([
    ['a basic text', { input: [user('Say hello in exactly 3 words.')] }],
    [
      'a system prompt',
      { input: [{ type: 'message', role: 'system', content: 'You are a pirate.' }, user('Say hello.')] },
    ],
    ['a tool', { input: [user("What's it like in San Francisco?")], tools: [weather] }],
    [
      'an image',
      {
        input: [
          user([
            { type: 'input_text', text: 'What do you see?' },
            { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' },
          ]),
        ],
      },
    ],
    [
      'a conversation',
      {
        input: [
          user('My name is Alice.'),
          { type: 'message', role: 'assistant', content: 'Hello Alice! How can I help you today?' },
          user('What is my name?'),
        ],
      },
    ],
  ])('answers %s with every field of a response', async (_, body) => {
    const response = await send({ model, ...body });
    expect(response.status).toBe(200);
    const json = (await response.json()) as Body;
    expectComplete(json);
    expect(json.tools).toEqual('tools' in body ? [{ ...weather, strict: null }] : []);
    expect(json.output.some(({ type, content }) => type === 'message' && content![0]!.text !== '')).toBe(true);
  });

  it('streams events in the order of the specification', async () => {
    const events: object[] = [];
    for await (const { event, data } of readEvents(await send({ model, input: [user('Count to 5.')], stream: true }))) {
      expect(event).toBe((data as { type: string }).type);
      events.push(data as object);
    }
    expect(check(openai, events).violations).toEqual([]);
    const types = new Set(events.map((event) => (event as { type: string }).type));
    expect([...types].filter((type) => /mcp|reasoning_text|image_generation/.test(type))).toEqual([]);
    expectComplete((events.at(-1) as { response: Body }).response);
  });

  it('does not end an event stream with [DONE]', async () => {
    const text = await (await send({ model, input: 'Hello', stream: true })).text();
    expect(text).not.toContain('[DONE]');
  });
});
