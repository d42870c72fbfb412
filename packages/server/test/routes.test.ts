import { createInMemoryStore } from '@intertie/core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDemoAgents } from '../src/demo/start-demo-agents.ts';
import { openAPI } from '../src/routes/openapi.ts';
import { protocols } from '../src/protocols.ts';
import { listRoutes } from '../src/routes/route-table.ts';
import { serve } from '../src/serve.ts';
import { chatBody, postJson, sendMessage, collectEvents } from './client.ts';
import { startDemoServer, type DemoServer } from './demo-server.ts';

let server: DemoServer;
let run: { runId: string; messageId: string };
let paused: { runId: string; messageId: string };
let blob: string;
const api = (path: string): string => `${server.url}${path}`;
const json = async <T = { [name: string]: unknown }>(path: string): Promise<T> =>
  (await fetch(api(path))).json() as Promise<T>;

beforeAll(async () => {
  server = await startDemoServer();
  run = await sendMessage(server.url, { thread: 'first', text: 'What is the weather in Lisbon?' });
  paused = await sendMessage(server.url, { thread: 'asks', text: 'Send an email to Ada' });
  await sendMessage(server.url, { thread: 'doomed', text: 'hello' });
  const stored = await fetch(api('/api/blobs'), {
    method: 'POST',
    body: 'hello',
    headers: { 'content-type': 'text/plain' },
  });
  ({ sha256: blob } = (await stored.json()) as { sha256: string });
});
afterAll(() => server.close());

const a2aRequest = {
  jsonrpc: '2.0',
  id: 1,
  method: 'SendStreamingMessage',
  params: { message: { messageId: 'a2a', role: 'ROLE_USER', parts: [{ text: 'hello' }] } },
};
const callA2A = (method: string, path: string, body?: object): Promise<Response> =>
  fetch(api(`/api/agents/helper/a2a${path}`), {
    method,
    headers: { 'a2a-version': '1.0', ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });

/** Call for each route. A route without a call fails the test. */
const calls: { [route: string]: () => Promise<Response> } = {
  'GET /api/agents': () => fetch(api('/api/agents')),
  'GET /api/protocols': () => fetch(api('/api/protocols')),
  'GET /api/agents/{agent}/topology': () => fetch(api('/api/agents/newsroom/topology')),
  'POST /api/agents/{agent}/chat': () => postJson(api('/api/agents/helper/chat'), chatBody('open-1', 'hello')),
  'GET /api/agents/{agent}/chat/{thread}/stream': () => fetch(api('/api/agents/helper/chat/nothing/stream')),
  'POST /api/agents/{agent}/chat/{thread}/stop': () => postJson(api('/api/agents/helper/chat/first/stop'), ''),
  'POST /api/chat': () => postJson(api('/api/chat'), chatBody('open-2', 'hello')),
  'GET /api/chat/{thread}/stream': () => fetch(api('/api/chat/first/stream')),
  'POST /api/chat/{thread}/stop': () => postJson(api('/api/chat/first/stop'), ''),
  'POST /api/agents/{agent}/ag-ui': () =>
    postJson(api('/api/agents/helper/ag-ui'), {
      threadId: 'open-3',
      runId: 'open-3-run',
      messages: [{ id: 'm', role: 'user', content: 'hello' }],
      tools: [],
      context: [],
      state: {},
    }),
  'GET /api/agents/{agent}/ag-ui': () => fetch(api('/api/agents/helper/ag-ui?threadId=first')),
  'DELETE /api/agents/{agent}/ag-ui': () => fetch(api('/api/agents/helper/ag-ui?threadId=first'), { method: 'DELETE' }),
  'GET /.well-known/agent-card.json': () => fetch(api('/.well-known/agent-card.json')),
  'GET /api/agents/{agent}/a2a/.well-known/agent-card.json': () => callA2A('GET', '/.well-known/agent-card.json'),
  'POST /api/agents/{agent}/a2a': () => callA2A('POST', '', a2aRequest),
  'POST /api/agents/{agent}/a2a/': () => callA2A('POST', '/', a2aRequest),
  'POST /api/agents/{agent}/a2a/message:send': () => callA2A('POST', '/message:send', a2aRequest.params),
  'POST /api/agents/{agent}/a2a/message:stream': () => callA2A('POST', '/message:stream', a2aRequest.params),
  'GET /api/agents/{agent}/a2a/tasks': () => callA2A('GET', '/tasks?pageSize=2'),
  'GET /api/agents/{agent}/a2a/tasks/{task}': () => callA2A('GET', `/tasks/${run.messageId}`),
  'GET /api/agents/{agent}/a2a/tasks/{task}:subscribe': () => callA2A('GET', `/tasks/${paused.messageId}:subscribe`),
  'POST /api/agents/{agent}/a2a/tasks/{task}:subscribe': () => callA2A('POST', `/tasks/${paused.messageId}:subscribe`),
  'POST /api/agents/{agent}/a2a/tasks/{task}:cancel': async () => {
    const { messageId } = await sendMessage(server.url, { thread: 'a2a-cancel', text: 'Send an email to Ada' });
    return callA2A('POST', `/tasks/${messageId}:cancel`);
  },
  'GET /api/agents/{agent}/a2a/extendedAgentCard': () => callA2A('GET', '/extendedAgentCard'),
  'POST /api/agents/{agent}/a2a/tasks/{task}/pushNotificationConfigs': () =>
    callA2A('POST', '/tasks/x/pushNotificationConfigs', {}),
  'GET /api/agents/{agent}/a2a/tasks/{task}/pushNotificationConfigs': () =>
    callA2A('GET', '/tasks/x/pushNotificationConfigs'),
  'GET /api/agents/{agent}/a2a/tasks/{task}/pushNotificationConfigs/{config}': () =>
    callA2A('GET', '/tasks/x/pushNotificationConfigs/y'),
  'DELETE /api/agents/{agent}/a2a/tasks/{task}/pushNotificationConfigs/{config}': () =>
    callA2A('DELETE', '/tasks/x/pushNotificationConfigs/y'),
  ...openaiCalls('/v1'),
  'POST /v1/chat/completions': () =>
    postJson(api('/v1/chat/completions'), { messages: [{ role: 'user', content: 'hello' }], stream: true }),
  ...openaiCalls('/open-responses/v1'),
  'GET /api/threads': () => fetch(api('/api/threads?search=weather&limit=10')),
  'GET /api/search': () => fetch(api('/api/search?q=weather')),
  'GET /api/threads/{thread}': () => fetch(api('/api/threads/first')),
  'PATCH /api/threads/{thread}': () =>
    fetch(api('/api/threads/first'), { method: 'PATCH', body: JSON.stringify({ title: 'Weather' }) }),
  'DELETE /api/threads/{thread}': () => fetch(api('/api/threads/doomed'), { method: 'DELETE' }),
  'GET /api/threads/{thread}/messages': () => fetch(api('/api/threads/first/messages?format=ui')),
  'DELETE /api/threads/{thread}/messages/{message}': () =>
    fetch(api(`/api/threads/asks/messages/${paused.messageId}`), { method: 'DELETE' }),
  'GET /api/threads/{thread}/tree': () => fetch(api('/api/threads/first/tree')),
  'GET /api/threads/{thread}/runs': () => fetch(api('/api/threads/first/runs')),
  'GET /api/threads/{thread}/events': () => fetch(api('/api/threads/first/events?since=0')),
  'GET /api/threads/{thread}/export': () => fetch(api('/api/threads/first/export')),
  'GET /api/runs/{run}': () => fetch(api(`/api/runs/${run.runId}`)),
  'GET /api/runs/{run}/events': () => fetch(api(`/api/runs/${run.runId}/events?live=false`)),
  'GET /api/runs/{run}/frames': () => fetch(api(`/api/runs/${run.runId}/frames`)),
  'GET /api/runs/{run}/model-calls': () => fetch(api(`/api/runs/${run.runId}/model-calls`)),
  'POST /api/runs/{run}/stop': () => postJson(api(`/api/runs/${run.runId}/stop`), {}),
  'POST /api/runs/{run}/answers': () =>
    postJson(api(`/api/runs/${paused.runId}/answers`), { answers: [{ questionId: 'unknown', approved: true }] }),
  'GET /api/questions': () => fetch(api('/api/questions?state=open')),
  'POST /api/blobs': () => fetch(api('/api/blobs'), { method: 'POST', body: 'x' }),
  'GET /api/blobs/{sha256}': () => fetch(api(`/api/blobs/${blob}`)),
  'GET /streams/runs/{run}': () => fetch(api(`/streams/runs/${run.runId}?offset=-1`)),
  'HEAD /streams/runs/{run}': () => fetch(api(`/streams/runs/${run.runId}`), { method: 'HEAD' }),
  'POST /api/dev/wire': () => postJson(api('/api/dev/wire'), { thread: 'first', cut: true }),
  'GET /api/errors': () => fetch(api('/api/errors')),
  'GET /api/errors/{code}': () => fetch(api('/api/errors/busy')),
  'GET /api/openapi.json': () => fetch(api('/api/openapi.json')),
  'GET /health': () => fetch(api('/health')),
  'GET /ready': () => fetch(api('/ready')),
  'GET /metrics': () => fetch(api('/metrics')),
};

/** Calls of the endpoints for OpenAI clients. Those of one response start it first. */
function openaiCalls(prefix: string): { [route: string]: () => Promise<Response> } {
  const create = async (): Promise<string> => {
    const response = await postJson(api(`${prefix}/responses`), { input: 'hello' });
    return api(`${prefix}/responses/${((await response.json()) as { id: string }).id}`);
  };
  return {
    [`GET ${prefix}/models`]: () => fetch(api(`${prefix}/models`)),
    [`GET ${prefix}/models/{model}`]: () => fetch(api(`${prefix}/models/helper`)),
    [`POST ${prefix}/responses`]: () => postJson(api(`${prefix}/responses`), { input: 'hello', stream: true }),
    [`GET ${prefix}/responses/{id}`]: async () => fetch(`${await create()}?stream=true`),
    [`DELETE ${prefix}/responses/{id}`]: async () => fetch(await create(), { method: 'DELETE' }),
    [`POST ${prefix}/responses/{id}/cancel`]: async () => postJson(`${await create()}/cancel`, ''),
    [`GET ${prefix}/responses/{id}/input_items`]: async () => fetch(`${await create()}/input_items`),
  };
}

const types = { json: 'json', sse: 'event-stream', text: 'text/', bytes: '/', ndjson: 'ndjson', nothing: '' };

test.each(listRoutes(protocols).map((route) => [`${route.method} ${route.path}`, route] as const))(
  'responds to %s with a documented status and type',
  async (name, { answers }) => {
    const response = await calls[name]!();
    expect(Object.keys(answers).map(Number)).toContain(response.status);
    const type = response.headers.get('content-type') ?? '';
    expect(type).toContain(types[answers[response.status]!]);
    await response.body?.cancel();
  },
);

test('documents every route', () => {
  const { paths } = openAPI(listRoutes(protocols)) as {
    paths: { [path: string]: { [method: string]: { summary: string } } };
  };
  const listed = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(listed.toSorted()).toEqual(Object.keys(calls).toSorted());
});

test('lists the agents with their kinds', async () => {
  const { agents, loopback } = await json<{ agents: Array<{ name: string; kind: string }>; loopback: boolean }>(
    '/api/agents',
  );
  expect(agents.map(({ name, kind }) => [name, kind])).toEqual([
    ['helper', 'model'],
    ['swarm', 'mail'],
    ['newsroom', 'open-harness'],
    ['remote', 'ag-ui'],
    ['recording', 'tape'],
  ]);
  expect(agents[0]).toMatchObject({ isDefault: true, isDemo: true, pauses: 'replay', hasTopology: true });
  expect(loopback).toBe(true);
  expect(await json('/api/agents/swarm/topology')).toMatchObject({ entry: 'supervisor' });
});

test('returns the agent and the usage of a thread', async () => {
  const { thread, usage } = await json<{ thread: { agent: string; title: string }; usage: unknown[] }>(
    '/api/threads/first',
  );
  expect(thread).toMatchObject({ id: 'first', agent: 'helper' });
  expect(usage).toMatchObject([{ model: 'demo' }]);
});

test('lists messages in three formats, with branches in the order of creation', async () => {
  const thread = 'branches';
  const first = await sendMessage(server.url, { thread, text: 'hello' });
  const body = { id: thread, trigger: 'regenerate-message', messageId: first.messageId, messages: [] as unknown[] };
  const { messages: sent } = await json<{ messages: Array<{ id: string }> }>(
    `/api/threads/${thread}/messages?format=ui`,
  );
  body.messages = sent.slice(0, 1);
  const again = await postJson(api('/api/agents/helper/chat'), body);
  await again.text();
  const second = again.headers.get('x-intertie-message')!;
  const { messages, branches } = await json<{ messages: Array<{ id: string; role: string }>; branches: unknown }>(
    `/api/threads/${thread}/messages?format=canonical`,
  );
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
  expect(branches).toEqual({ [second]: { siblings: [first.messageId, second], index: 1 } });
  const agUi = await json<{ messages: Array<{ role: string }> }>(`/api/threads/${thread}/messages?format=ag-ui`);
  expect(agUi.messages.map(({ role }) => role)).toContain('assistant');
  const tree = await json<{ messages: Array<{ id: string; parentId?: string }>; headId: string }>(
    `/api/threads/${thread}/tree`,
  );
  expect(tree.headId).toBe(second);
  expect(tree.messages.filter(({ parentId }) => parentId === messages[0]!.id)).toHaveLength(2);
  const old = await json<{ messages: Array<{ id: string }> }>(
    `/api/threads/${thread}/messages?leaf=${first.messageId}`,
  );
  expect(old.messages.at(-1)?.id).toBe(first.messageId);
});

const isAnswer = (data: unknown): boolean => {
  const { role, status } = data as { role?: string; status?: string };
  return role === 'assistant' && status === 'complete';
};

test('streams the live run and the changes of a thread, and resumes after the last event', async () => {
  const thread = 'feed';
  const feed = await fetch(api(`/api/threads/${thread}/events`));
  const events = collectEvents(feed, (all) => all.some(({ event, data }) => event === 'change' && isAnswer(data)));
  const { runId, messageId } = await sendMessage(server.url, { thread, text: 'hello' });
  const all = await events;
  expect(all[0]).toEqual({ id: undefined, event: 'live', data: null });
  expect(all).toContainEqual({ id: undefined, event: 'live', data: { runId, messageId, agent: 'helper' } });
  expect(all.at(-1)?.data).toMatchObject({ type: 'message', messageId, role: 'assistant', runId });
  const first = all.find(({ event, id }) => event === 'change' && id !== undefined)!;
  const again = await fetch(api(`/api/threads/${thread}/events`), { headers: { 'last-event-id': first.id! } });
  const rest = await collectEvents(again, (some) => some.length === 2);
  expect(rest[1]?.data).toMatchObject({ messageId });
});

test('reads the events of a run from a cursor, and resets for an invalid one', async () => {
  const read = async (
    query: string,
  ): Promise<Array<{ id: string | undefined; event: string | undefined; data: { type?: string } }>> =>
    (await collectEvents(await fetch(api(`/api/runs/${run.runId}/events${query}`)), () => false)) as never;
  const all = await read('');
  expect(all[0]?.data.type).toBe('run-start');
  expect(all.at(-1)?.data.type).toBe('run-end');
  const middle = all[5]!.id!;
  expect((await read(`?after=${middle}`)).map(({ id }) => id)).toEqual(all.slice(6).map(({ id }) => id));
  expect((await read('?live=false')).map(({ id }) => id)).toEqual(all.map(({ id }) => id));
  const reset = await read('?after=77.3');
  expect(reset[0]?.event).toBe('reset');
  expect(reset.slice(1).map(({ id }) => id)).toEqual(all.map(({ id }) => id));
});

test('finds messages by their text, with an excerpt', async () => {
  const { matches } = await json<{ matches: Array<{ threadId: string; role: string; excerpt: unknown }> }>(
    '/api/search?q=WEATHER%20lis',
  );
  expect(matches).toContainEqual(
    expect.objectContaining({
      threadId: 'first',
      role: 'user',
      excerpt: [
        { text: 'What is the ' },
        { text: 'weather', isMatch: true },
        { text: ' in ' },
        { text: 'Lis', isMatch: true },
        { text: 'bon?' },
      ],
    }),
  );
  expect((await fetch(api('/api/search'))).status).toBe(400);
});

test('streams the frames of a run, to which events refer by index', async () => {
  const frames = await collectEvents(await fetch(api(`/api/runs/${run.runId}/frames`)), () => false);
  expect(frames.length).toBeGreaterThan(5);
  expect(frames[0]?.data).toMatchObject({ index: 0, dialect: 'ai-sdk' });
  const events = await collectEvents(await fetch(api(`/api/runs/${run.runId}/events?live=false`)), () => false);
  const origins = events
    .map(({ data }) => (data as { origin?: number }).origin)
    .filter((origin) => origin !== undefined);
  expect(Math.max(...origins)).toBeLessThan(frames.length);
});

test('stores a file, serves ranges of it, and prevents browsers from running it', async () => {
  const html = await fetch(api('/api/blobs'), {
    method: 'POST',
    body: '<script>1</script>',
    headers: { 'content-type': 'text/html' },
  });
  const { url, size } = (await html.json()) as { url: string; size: number };
  const whole = await fetch(api(url));
  expect(Object.fromEntries(whole.headers)).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-disposition': 'attachment',
    'content-security-policy': expect.stringContaining('sandbox') as unknown,
    'x-content-type-options': 'nosniff',
  });
  const part = await fetch(api(url), { headers: { range: 'bytes=1-6' } });
  expect([part.status, await part.text(), part.headers.get('content-range')]).toEqual([
    206,
    'script',
    `bytes 1-6/${size}`,
  ]);
  expect((await fetch(api(url), { headers: { range: 'bytes=100-' } })).status).toBe(416);
  const tag = whole.headers.get('etag')!;
  expect((await fetch(api(url), { headers: { 'if-none-match': tag } })).status).toBe(304);
  expect((await fetch(api(url), { headers: { 'if-none-match': `"other", W/${tag}` } })).status).toBe(304);
});

test('marks and finds the threads whose last message is paused', async () => {
  const list = async (query: string): Promise<Array<[string, unknown]>> => {
    const { threads } = await json<{ threads: Array<{ id: string; paused?: true }> }>(`/api/threads?limit=200${query}`);
    return threads.filter(({ id }) => id === 'column' || id === 'first').map((thread) => [thread.id, thread.paused]);
  };
  await sendMessage(server.url, { thread: 'column', text: 'Night trains', agent: 'newsroom' });
  expect(await list('')).toEqual([
    ['column', true],
    ['first', undefined],
  ]);
  expect(await list('&paused=true')).toEqual([['column', true]]);
  const { messages } = await json<{ messages: unknown[] }>('/api/threads/column/messages?format=ui');
  const reply = { id: 'reply', role: 'user', parts: [{ type: 'text', text: 'yes' }] };
  const body = { id: 'column', trigger: 'submit-message', messages: [...messages, reply] };
  await (await postJson(api('/api/agents/newsroom/chat'), body)).text();
  expect(await list('&paused=true')).toEqual([]);
  expect((await fetch(api('/api/threads?paused=yes'))).status).toBe(400);
});

test('names the call that an open approval of any thread is about', async () => {
  const { runId } = await sendMessage(server.url, { thread: 'inbox', text: 'Send an email to Ada' });
  const { questions } = await json<{ questions: Array<{ runId: string }> }>('/api/questions?state=open');
  expect(questions.find((question) => question.runId === runId)).toMatchObject({
    kind: 'approval',
    title: 'Send an email to Ada',
    toolName: 'sendEmail',
    input: { to: 'Ada' },
  });
});

test('answers an approval once and continues the run', async () => {
  const { runId, messageId } = await sendMessage(server.url, { thread: 'approve', text: 'Send an email to Ada' });
  const { questions } = await json<{ questions: Array<{ id: string; runId: string; run?: string }> }>(
    '/api/questions?state=open&thread=approve',
  );
  expect(questions).toMatchObject([{ runId, kind: 'approval', state: 'open' }]);
  expect(questions[0]).not.toHaveProperty('run');
  const answers = [{ questionId: questions[0]!.id, approved: true }];
  const accepted = (await (await postJson(api(`/api/runs/${runId}/answers`), { answers })).json()) as {
    verdicts: unknown[];
    open: unknown[];
    run: { runId: string; messageId: string };
  };
  expect(accepted).toMatchObject({ verdicts: [{ result: 'accepted' }], open: [], run: { messageId } });
  await collectEvents(await fetch(api(`/api/runs/${accepted.run.runId}/events`)), () => false);
  const duplicate = await (await postJson(api(`/api/runs/${runId}/answers`), { answers })).json();
  expect(duplicate).toMatchObject({ verdicts: [{ result: 'duplicate' }] });
  const conflict = await postJson(api(`/api/runs/${runId}/answers`), { answers: [{ ...answers[0], approved: false }] });
  expect(await conflict.json()).toMatchObject({ verdicts: [{ result: 'conflict' }] });
  const { runs } = await json<{ runs: Array<{ resumes?: string; state: string }> }>('/api/threads/approve/runs');
  expect(runs).toMatchObject([{ state: 'paused' }, { state: 'complete', resumes: runId }]);
});

test('exports the messages of all branches as JSON lines', async () => {
  const lines = (await (await fetch(api('/api/threads/branches/export'))).text()).trim().split('\n');
  const kinds = lines.map((line) => (JSON.parse(line) as { type: string }).type);
  expect(kinds).toEqual(['thread', 'message', 'message', 'message', 'run', 'run']);
});

test('serves a page for every path of the console, and errors for unknown paths', async () => {
  const page = await fetch(api('/'));
  expect(page.headers.get('content-type')).toContain('text/html');
  expect(page.headers.get('content-security-policy')).toContain("default-src 'self'");
  expect((await fetch(api('/threads/some-thread'))).headers.get('content-type')).toContain('text/html');
  expect((await fetch(api('/nothing.js'))).status).toBe(404);
  expect(await json('/api/nothing')).toMatchObject({ error: { code: 'not-found', docs: '/api/errors/not-found' } });
  const wrong = await fetch(api('/api/agents'), { method: 'DELETE' });
  expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET']);
});

test('reloads the configuration at the same address while a run finishes', async () => {
  const { agents, stop } = await startDemoAgents({ pace: 0.3 });
  const other = await serve({ agents, database: createInMemoryStore() }, { port: 0 });
  const response = await postJson(`${other.url}/api/chat`, chatBody('reload', 'hello'));
  const answer = response.text();
  await other.reload({ agents: { onlyOne: agents['helper']! }, database: other.intertie.store });
  const listed = (await (await fetch(`${other.url}/api/agents`)).json()) as { agents: Array<{ name: string }> };
  expect(listed.agents.map(({ name }) => name)).toEqual(['onlyOne']);
  expect(await answer).toContain('[DONE]');
  await expect(other.reload({ agents: {} })).rejects.toThrow('agents is {}');
  expect((await fetch(`${other.url}/health`)).status).toBe(200);
  await Promise.all([other.close(), stop()]);
});
