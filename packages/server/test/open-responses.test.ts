import { check } from '@intertie/conformance';
import { openai } from '@intertie/openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postJson, readEvents } from './client.ts';
import { startDemoServer, type DemoServer } from './demo-server.ts';
import { startDemoAgents, type StartedDemos } from '../src/demo/start-demo-agents.ts';
import { toolSource } from './tool-source.ts';

/**
 * The HTTP cases of the Open Responses compliance suite for `/responses`, as of July 2026. Its cases for `/responses/compact` and
 * WebSockets are left out: the server has neither.
 */
type Item = { type: string; content?: Array<{ text: string }>; call_id?: string };
type Body = { [field: string]: unknown; id: string; output: Item[] };
type Event = { type: string; item?: Item; response?: Body };

const text: unknown = expect.any(String);
const number: unknown = expect.any(Number);
const list: unknown = expect.any(Array);
const fields: unknown = expect.any(Object);

/** Types of all fields that the schema requires. None may be absent. */
const response = {
  id: text,
  object: 'response',
  created_at: number,
  completed_at: number,
  status: 'completed',
  incomplete_details: null,
  model: text,
  output: list,
  error: null,
  tools: list,
  tool_choice: 'auto',
  truncation: 'disabled',
  parallel_tool_calls: true,
  text: { format: { type: 'text' } },
  top_p: number,
  presence_penalty: number,
  frequency_penalty: number,
  top_logprobs: number,
  temperature: number,
  reasoning: { effort: null, summary: null },
  usage: {
    input_tokens: number,
    output_tokens: number,
    total_tokens: number,
    input_tokens_details: { cached_tokens: number },
    output_tokens_details: { reasoning_tokens: number },
  },
  max_output_tokens: null,
  max_tool_calls: null,
  store: true,
  background: false,
  service_tier: text,
  metadata: fields,
  safety_identifier: null,
  prompt_cache_key: null,
};
const items: { readonly [type: string]: object } = {
  message: { id: text, role: 'assistant', status: 'completed', content: list },
  reasoning: { id: text, summary: list, content: list },
  function_call: { id: text, call_id: text, name: text, arguments: text, status: 'completed' },
  function_call_output: { id: text, call_id: text, output: text, status: 'completed' },
};

let demo: StartedDemos;
let server: DemoServer;
beforeAll(async () => {
  demo = await startDemoAgents({ pace: 0 });
  const agents = { ...demo.agents, caller: toolSource() };
  server = await startDemoServer({ agents, limits: { requestsPerSecond: 10_000 } });
});
afterAll(async () => {
  await server.close();
  await demo.stop();
});

const send = (body: object): Promise<Response> => postJson(`${server.url}/open-responses/v1/responses`, body);

async function create(body: object): Promise<Body> {
  const sent = await send(body);
  expect(sent.status).toBe(200);
  const json = (await sent.json()) as Body;
  expectComplete(json);
  return json;
}

async function stream(body: object): Promise<Event[]> {
  const events: Event[] = [];
  for await (const { event, data } of readEvents(await send({ ...body, stream: true }))) {
    expect(event).toBe((data as Event).type);
    events.push(data as Event);
  }
  expect(check(openai, events).violations).toEqual([]);
  expectComplete(events.at(-1)!.response!);
  return events;
}

function expectComplete(body: Body): void {
  expect(body).toMatchObject(response);
  expect(body).toMatchObject({ previous_response_id: anyId, instructions: null });
  expect(body.output).not.toEqual([]);
  for (const item of body.output) expect(item).toMatchObject(items[item.type] ?? { type: 'a type of Open Responses' });
}

const anyId = { asymmetricMatch: (value: unknown) => value === null || typeof value === 'string' };
const message = (role: string, content: unknown, more: object = {}) => ({ type: 'message', role, content, ...more });
const weather = {
  type: 'function',
  name: 'get_weather',
  description: 'Weather of a place',
  parameters: { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] },
};

describe.each(['helper', 'swarm', 'newsroom'])('Open Responses with %s', (model) => {
  it.each([
    ['a text', [message('user', 'Say hello in three words.')]],
    ['a system prompt', [message('system', 'You are a pirate.'), message('user', 'Say hello.')]],
    [
      'an image',
      [
        message('user', [
          { type: 'input_text', text: 'What do you see?' },
          { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' },
        ]),
      ],
    ],
    [
      'a file',
      [
        message('user', [
          { type: 'input_text', text: 'Give the title of the file.' },
          { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0xLjEK' },
        ]),
      ],
    ],
    [
      'a conversation',
      [message('user', 'My name is Alice.'), message('assistant', 'Hello Alice!'), message('user', 'What is my name?')],
    ],
    [
      'answers with a phase, before any message of the user',
      [
        message('assistant', 'I should give the saved number.', { phase: 'commentary' }),
        message('assistant', 'The number is four.', { phase: 'final_answer' }),
        message('user', 'Repeat only the number.'),
      ],
    ],
  ])('answers %s with every field of a response', async (_, input) => {
    const { output, tools } = await create({ model, input });
    expect(tools).toEqual([]);
    expect(output.some(({ type, content }) => type === 'message' && content![0]!.text !== '')).toBe(true);
  });

  it('streams events in the order of the specification, without [DONE]', async () => {
    const events = await stream({ model, input: [message('user', 'Count to 5.')] });
    const types = events.map(({ type }) => type).filter((type) => /mcp|reasoning_text|image_generation/.test(type));
    expect(types).toEqual([]);
    expect(await (await send({ model, input: 'Hello', stream: true })).text()).not.toContain('[DONE]');
  });

  it('continues with previous_response_id', async () => {
    const first = await create({ model, input: 'Remember this word: papaya.' });
    const second = await create({ model, input: 'Which word?', previous_response_id: first.id });
    expect(second.previous_response_id).toBe(first.id);
  });
});

describe('Open Responses with tools of the client', () => {
  const request = { model: 'caller', input: [message('user', 'What is the weather in Oslo?')], tools: [weather] };

  it('calls a tool, and continues with its output', async () => {
    const first = await create(request);
    expect(first.tools).toEqual([{ ...weather, strict: null }]);
    const { call_id: callId } = first.output.find(({ type }) => type === 'function_call')!;
    const output = { type: 'function_call_output', call_id: callId, output: '64 degrees and clear' };
    const second = await create({ model: 'caller', previous_response_id: first.id, input: [output] });
    expect(second.output[0]!.content![0]!.text).toContain('64 degrees and clear');
  });

  it('streams the arguments of a call', async () => {
    const events = await stream(request);
    const ofCall = events.filter(({ type, item }) => /arguments/.test(type) || item?.type === 'function_call');
    expect(ofCall.map(({ type }) => type)).toEqual([
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
    ]);
  });
});
