import OpenAI from 'openai';
import type { ResponseStreamEvent } from 'openai/resources/responses/responses';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDemoAgents, type StartedDemos } from '../src/demo/start-demo-agents.ts';
import { askingSource } from './asking-source.ts';
import { collect } from './client.ts';
import { startDemoServer, type DemoServer } from './demo-server.ts';
import { liveSource, retryingSource, toolSource } from './tool-source.ts';

const agents = ['helper', 'swarm', 'newsroom', 'remote', 'recording'];

let server: DemoServer;
let demo: StartedDemos;
let client: OpenAI;

beforeAll(async () => {
  demo = await startDemoAgents({ pace: 0 });
  const own = { asker: askingSource(), caller: toolSource(), live: liveSource(), retry: retryingSource() };
  server = await startDemoServer({ agents: { ...demo.agents, ...own }, limits: { requestsPerSecond: 10_000 } });
  client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 });
});
afterAll(async () => {
  await server.close();
  await demo.stop();
});

const countThreads = async (): Promise<number> => (await server.store.listThreads({ limit: 200 })).threads.length;

const weather = { type: 'function' as const, name: 'weather', parameters: { type: 'object' }, strict: false };

describe('the openai client', () => {
  it('lists the agents as models', async () => {
    const models = await client.models.list();
    expect(models.data.map(({ id }) => id)).toEqual([...agents, 'asker', 'caller', 'live', 'retry']);
    expect(await client.models.retrieve('swarm')).toMatchObject({ id: 'swarm', object: 'model' });
  });

  it.each(agents)('streams an answer of %s, and reads the same one without a stream', async (model) => {
    const stream = client.responses.stream({ model, input: 'Hello there', metadata: { a: 'b' } });
    const types = (await collect(stream)).map(({ type }) => type);
    const final = await stream.finalResponse();
    expect(types[0]).toBe('response.created');
    expect(types.at(-1)).toBe('response.completed');
    const stored = await client.responses.retrieve(final.id);
    expect(stored.output).toEqual(JSON.parse(JSON.stringify(final.output, omitParsed)));
    expect(stored).toMatchObject({ status: 'completed', model, id: final.id, metadata: { a: 'b' } });
    expect(stored.usage).toMatchObject({ total_tokens: expect.any(Number) });
  });

  it('answers without a stream, with reasoning and a tool of the runtime', async () => {
    const response = await client.responses.create({ model: 'helper', input: 'What is the weather in Lisbon?' });
    expect(response.output.map(({ type }) => type)).toEqual(['reasoning', 'mcp_call', 'reasoning', 'message']);
    expect(response.output[1]).toMatchObject({ name: 'weather', server_label: 'helper', status: 'completed' });
    expect(response.output_text).toContain('Lisbon');
  });

  it('never shows messages between the agents of a swarm', async () => {
    const response = await client.responses.create({ model: 'swarm', input: 'Where does the time go?' });
    const [thread] = (await server.store.listThreads({ limit: 1 })).threads;
    const [, message] = await server.store.listMessages({ threadId: thread!.id });
    const internal = message!.content.parts.filter((part) => part.type === 'text' && part.internal);
    expect(internal.length).toBeGreaterThan(0);
    for (const { id } of internal) expect(JSON.stringify(response)).not.toContain(`msg_${id}`);
    expect(response.output_text).not.toBe('');
  });

  it('returns an image with its bytes, and accepts files as data URLs', async () => {
    const chart = await client.responses.create({ model: 'helper', input: 'Draw a chart' });
    const image = chart.output.find(({ type }) => type === 'image_generation_call');
    expect(image).toMatchObject({ output_format: 'svg', result: expect.stringMatching(/^[\w+/=]+$/) });
    const sent = await client.responses.create({
      model: 'caller',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'Look' },
            { type: 'input_image', image_url: 'data:image/png;base64,iVBORw==', detail: 'auto' },
            { type: 'input_file', filename: 'a.txt', file_data: 'data:text/plain;base64,SGk=' },
          ],
        },
      ],
    });
    expect(sent.output_text).toContain('Look and image/png iVBORw== and text/plain SGk=');
  });

  it.each(['helper', 'swarm', 'newsroom', 'retry'])('resumes a stream of %s after every event', async (model) => {
    const events = await collect(await client.responses.create({ model, input: 'What is the weather?', stream: true }));
    const created = events[0] as Extract<ResponseStreamEvent, { type: 'response.created' }>;
    const { id } = created.response;
    expect(events.map(({ sequence_number: n }) => n)).toEqual(events.map((_, index) => index));
    for (const [index] of events.entries()) {
      const rest = await client.responses.retrieve(id, { stream: true, starting_after: index });
      expect(await collect(rest)).toEqual(events.slice(index + 1));
    }
    expect(await collect(await client.responses.retrieve(id, { stream: true }))).toEqual(events);
  });

  it('leaves a stream and reads the rest later', async () => {
    const stream = await client.responses.create({ model: 'helper', input: 'Write a long answer', stream: true });
    let last: ResponseStreamEvent | undefined;
    let id = '';
    for await (const event of stream) {
      if (event.type === 'response.created') id = event.response.id;
      last = event;
      if (event.sequence_number >= 10) break;
    }
    const rest = await client.responses.retrieve(id, { stream: true, starting_after: last!.sequence_number });
    const events = await collect(rest);
    expect(events[0]!.sequence_number).toBe(last!.sequence_number + 1);
    expect(events.at(-1)).toMatchObject({ type: 'response.completed' });
  });

  it('runs in the background, and cancels', async () => {
    const started = await client.responses.create({ model: 'asker', input: 'slow', background: true });
    expect(['queued', 'in_progress']).toContain(started.status);
    expect(started.background).toBe(true);
    const cancelled = await client.responses.cancel(started.id);
    expect(cancelled.status).toBe('cancelled');
    expect(await client.responses.retrieve(started.id)).toMatchObject({ status: 'cancelled' });
  });

  it('streams that a response is queued, with the same numbers when it is read again', async () => {
    const running = await client.responses.create({ model: 'asker', input: 'slow', background: true });
    const conversation = running.conversation!.id;
    const stream = await client.responses.create({ model: 'asker', input: 'Hello', conversation, stream: true });
    const events: ResponseStreamEvent[] = [];
    for await (const event of stream) {
      events.push(event);
      if (event.type === 'response.queued') await client.responses.cancel(running.id);
    }
    expect(events.slice(0, 3)).toMatchObject([
      { type: 'response.created', response: { status: 'queued' } },
      { type: 'response.queued', response: { status: 'queued' } },
      { type: 'response.in_progress', response: { status: 'in_progress' } },
    ]);
    const { id } = (events[0] as Extract<ResponseStreamEvent, { type: 'response.created' }>).response;
    expect(await collect(await client.responses.retrieve(id, { stream: true }))).toEqual(events);
  });

  it('branches from any earlier response', async () => {
    const first = await client.responses.create({ model: 'caller', input: 'one' });
    const second = await client.responses.create({ model: 'caller', input: 'two', previous_response_id: first.id });
    const branch = await client.responses.create({ model: 'caller', input: 'three', previous_response_id: first.id });
    expect(branch.previous_response_id).toBe(first.id);
    expect(new Set([first, second, branch].map(({ conversation }) => conversation?.id)).size).toBe(1);
    const items = await client.responses.inputItems.list(branch.id, { order: 'asc' });
    const texts = items.data.map((item) => (item.type === 'message' ? JSON.stringify(item.content) : ''));
    expect(texts).toEqual([
      expect.stringContaining('one'),
      expect.stringContaining('You sent one'),
      expect.stringContaining('three'),
    ]);
    const page = await client.responses.inputItems.list(branch.id, { limit: 1 });
    expect(page.data).toHaveLength(1);
    expect(page.has_more).toBe(true);
  });

  it('continues a conversation by its id', async () => {
    const first = await client.responses.create({ model: 'caller', input: 'one' });
    const conversation = first.conversation!.id;
    const second = await client.responses.create({ model: 'caller', input: 'two', conversation });
    expect(second.conversation).toEqual({ id: conversation });
    await expect(
      client.responses.create({ model: 'caller', input: 'x', conversation, previous_response_id: first.id }),
    ).rejects.toMatchObject({ status: 400 });
  });

  it('answers a function call of a client tool', async () => {
    const first = await client.responses.create({ model: 'caller', input: 'Call it', tools: [weather] });
    const [call] = first.output;
    expect(call).toMatchObject({ type: 'function_call', name: 'weather', arguments: '{"city":"Oslo"}' });
    expect(first.tools).toMatchObject([{ name: 'weather', strict: null, description: null }]);
    const callId = (call as { call_id: string }).call_id;
    const output = { type: 'function_call_output' as const, call_id: callId, output: '{"celsius":3}' };
    const second = await client.responses.create({ model: 'caller', input: [output], previous_response_id: first.id });
    expect(second.output_text).toBe('The tool returned {"celsius":3}.');
    expect(second.previous_response_id).toBe(first.id);
    const again = await client.responses.create({ model: 'caller', input: [output], previous_response_id: first.id });
    expect(again.id).toBe(second.id);
  });

  it.each([
    [true, 'The email is **sent**', /sent/],
    [false, 'not sent', /not/],
  ])('answers an approval request with %s', async (approve, _, expected) => {
    const first = await client.responses.create({ model: 'helper', input: 'Send an email to Ada' });
    const request = first.output.find(({ type }) => type === 'mcp_approval_request');
    expect(request).toMatchObject({ name: 'sendEmail', server_label: 'helper' });
    expect(first.output.some(({ type }) => type === 'mcp_call')).toBe(false);
    const second = await client.responses.create({
      model: 'helper',
      previous_response_id: first.id,
      input: [{ type: 'mcp_approval_response', approval_request_id: request!.id!, approve }],
    });
    expect(second.output_text).toMatch(expected);
    expect(second.output[0]).toMatchObject({ type: 'mcp_call', status: approve ? 'completed' : 'failed' });
  });

  it('continues a flow that waits for the next message', async () => {
    const first = await client.responses.create({ model: 'newsroom', input: 'Night trains' });
    const base = { model: 'newsroom', previous_response_id: first.id };
    const second = await client.responses.create({ ...base, input: 'yes' });
    expect(JSON.stringify(second.output)).toContain('publish');
  });

  it('returns only the answer of the last attempt after a discarded step', async () => {
    const stream = client.responses.stream({ model: 'retry', input: 'Go' });
    expect((await stream.finalResponse()).output_text).toBe('right');
  });

  it('answers a run that waits in its process, as a response of its own', async () => {
    const stream = client.responses.stream({ model: 'live', input: 'Night trains' });
    const first = await stream.finalResponse();
    const request = first.output.find(({ type }) => type === 'mcp_approval_request');
    expect(first.output_text).toBe('May I?');
    const second = await client.responses.create({
      model: 'live',
      previous_response_id: first.id,
      input: [{ type: 'mcp_approval_response', approval_request_id: request!.id!, approve: true }],
    });
    expect(second.id).not.toBe(first.id);
    expect(second).toMatchObject({ status: 'completed', output_text: 'Thank you.', previous_response_id: first.id });
    expect((await client.responses.retrieve(first.id)).output).toEqual(
      JSON.parse(JSON.stringify(first.output, omitParsed)),
    );
    expect((await client.responses.retrieve(second.id)).output).toEqual(second.output);
  });

  it('answers an approval and a question in one request, and names a missing answer', async () => {
    const first = await client.responses.create({ model: 'asker', input: 'paint' });
    const [approval, ask] = first.output.slice(-2) as unknown as [
      { id: string },
      { call_id: string; arguments: string },
    ];
    expect(JSON.parse(ask.arguments)).toMatchObject({ message: 'Which colour?', schema: { enum: ['red', 'blue'] } });
    const approve = { type: 'mcp_approval_response' as const, approval_request_id: approval.id, approve: true };
    const colour = { type: 'function_call_output' as const, call_id: ask.call_id, output: 'red' };
    const base = { model: 'asker', previous_response_id: first.id };
    await expect(client.responses.create({ ...base, input: [approve] })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(ask.call_id),
    });
    const second = await client.responses.create({ ...base, input: [approve, colour] });
    expect(second.output_text).toBe('You said yes and red.');
  });

  it('deletes a response', async () => {
    const { id } = await client.responses.create({ model: 'caller', input: 'Forget me' });
    const before = await countThreads();
    await client.responses.delete(id);
    await expect(client.responses.retrieve(id)).rejects.toMatchObject({ status: 404 });
    expect(await countThreads()).toBe(before - 1);
  });

  it('stores nothing in lists with store: false, and still continues', async () => {
    const before = await countThreads();
    const first = await client.responses.create({ model: 'caller', input: 'secret', store: false });
    const second = await client.responses.create({ model: 'caller', input: 'more', previous_response_id: first.id });
    expect(second.output_text).toContain('more');
    expect(await countThreads()).toBe(before);
  });

  it.each([
    [{ model: 'nobody', input: 'x' }, 404, 'model_not_found'],
    [{ model: 'caller', input: 'x', previous_response_id: 'resp_none' }, 400, 'previous_response_not_found'],
    [{ model: 'caller', input: [] }, 400, null],
    [{ model: 'caller', input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] }, 400, null],
    [{ model: 'caller', input: [{ type: 'function_call_output', call_id: 'none', output: '' }] }, 400, null],
  ])('refuses %j with an OpenAI error', async (body, status, code) => {
    const error = await client.responses.create(body as never).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(OpenAI.APIError);
    expect(error).toMatchObject({ status, code, type: 'invalid_request_error', message: expect.any(String) });
  });

  it.each([
    ['GET', '/v1/files', 404],
    ['POST', '/v1/embeddings', 404],
    ['GET', '/v1/responses', 405],
    ['POST', '/open-responses/v1/responses/compact', 405],
  ])('refuses %s %s with an OpenAI error', async (method, path, status) => {
    const response = await fetch(`${server.url}${path}`, { method });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error', param: null } });
  });

  it('reports a failed run as a failed response', async () => {
    const response = await client.responses.create({ model: 'helper', input: 'Fail' });
    expect(response).toMatchObject({ status: 'failed', error: { code: 'server_error' } });
  });

  it('answers a chat completion whose run fails with 502, which the client does not retry', async () => {
    let requests = 0;
    const counting: typeof fetch = (input, init) => {
      requests += 1;
      return fetch(input, init);
    };
    const retrying = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', fetch: counting });
    const body = { model: 'helper', messages: [{ role: 'user' as const, content: 'Fail' }] };
    await expect(retrying.chat.completions.create(body)).rejects.toMatchObject({
      status: 502,
      code: 'run-failed',
      type: 'server_error',
    });
    expect(requests).toBe(1);
  });

  it('refuses a wrong token with an OpenAI error', async () => {
    const guarded = await startDemoServer({ token: 'a-token-that-is-long' });
    try {
      const wrong = new OpenAI({ baseURL: `${guarded.url}/v1`, apiKey: 'wrong', maxRetries: 0 });
      await expect(wrong.models.list()).rejects.toMatchObject({ status: 401, type: 'authentication_error' });
      const right = new OpenAI({ baseURL: `${guarded.url}/v1`, apiKey: 'a-token-that-is-long', maxRetries: 0 });
      expect((await right.models.list()).data.length).toBe(agents.length);
    } finally {
      await guarded.close();
    }
  });
});

describe('chat completions', () => {
  const ask = (content: string) => ({ role: 'user' as const, content });

  it.each(agents)('answers with and without a stream of %s', async (model) => {
    const stream = client.chat.completions.stream({
      model,
      messages: [ask('Hello there')],
      stream_options: { include_usage: true },
    });
    const final = await stream.finalChatCompletion();
    expect(final.choices[0]!.message.content).not.toBe('');
    expect(final.usage).toMatchObject({ total_tokens: expect.any(Number) });
    const plain = await client.chat.completions.create({ model, messages: [ask('Hello there')] });
    expect(plain.choices[0]).toMatchObject({ finish_reason: final.choices[0]!.finish_reason });
    expect(plain.usage).toMatchObject({ total_tokens: expect.any(Number) });
  });

  it('continues with the result of a client tool, by the history alone', async () => {
    const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: { type: 'object' } } }];
    const first = await client.chat.completions.create({ model: 'caller', messages: [ask('Which weather?')], tools });
    const { message, finish_reason: reason } = first.choices[0]!;
    expect(reason).toBe('tool_calls');
    const result = { role: 'tool' as const, tool_call_id: message.tool_calls![0]!.id, content: 'cold' };
    const messages = [ask('Which weather?'), message, result];
    const second = await client.chat.completions.create({ model: 'caller', messages, tools });
    expect(second.choices[0]!.message.content).toBe('The tool returned "cold".');
  });

  it('imports an unknown history once, also if its last message is edited', async () => {
    const before = await countThreads();
    const history = [ask(`Imported`), { role: 'assistant' as const, content: 'From elsewhere' }];
    for (const text of ['Go on', 'Go on, please']) {
      const messages = [...history, ask(text)];
      await client.chat.completions.stream({ model: 'caller', messages }).finalChatCompletion();
    }
    expect(await countThreads()).toBe(before + 1);
  });

  it('leaves no visible thread for prompts of titles, and shows one that is continued', async () => {
    const before = await countThreads();
    const title = ask('### Task:\nGenerate a concise title. <chat_history>…</chat_history>');
    await client.chat.completions.create({ model: 'caller', messages: [title] });
    await client.chat.completions.stream({ model: 'caller', messages: [title] }).finalChatCompletion();
    const first = await client.chat.completions.create({ model: 'caller', messages: [ask('A program')] });
    expect(await countThreads()).toBe(before);
    const messages = [ask('A program'), first.choices[0]!.message, ask('A second turn')];
    await client.chat.completions.create({ model: 'caller', messages });
    expect(await countThreads()).toBe(before + 1);
  });
});

/** The accumulator of the client adds fields for structured output. */
function omitParsed(key: string, value: unknown): unknown {
  return key === 'parsed' || key === 'parsed_arguments' ? undefined : value;
}
