import type { A2AStreamItem, A2ATask } from '@intertie/a2a';
import { a2aProtocol } from '@intertie/a2a';
import { check } from '@intertie/conformance';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bindings, connectA2A, foldItems, getInputs, getText, text, type TestClient } from './a2a-client.ts';
import { collect } from './client.ts';
import { startDemoServer, type DemoServer } from './demo-server.ts';

const agents = ['helper', 'swarm', 'newsroom', 'remote', 'recording'];
let server: DemoServer;

beforeAll(async () => {
  server = await startDemoServer();
});
afterAll(() => server.close());

const getState = ({ status }: A2ATask): string => status.state.replace('TASK_STATE_', '');

describe.each(bindings)('an A2A client on %s', (binding) => {
  const connect = (agent: string, headers?: Record<string, string>): Promise<TestClient> =>
    connectA2A(`${server.url}/api/agents/${agent}/a2a`, binding, headers);

  it.each(agents)('sends, streams, gets and lists tasks of the demo agent %s', async (agent) => {
    const client = await connect(agent);
    const answer = async (task: A2ATask): Promise<A2ATask> => {
      const inputs = getInputs(task);
      if (getState(task) !== 'INPUT_REQUIRED') return task;
      const parts = inputs.map(({ questionId }) => ({ data: { questionId, approved: true } }));
      return answer(await client.send({ taskId: task.id, parts }));
    };
    const sent = await answer(await client.send(text('What is the weather in Lisbon?')));
    expect(getState(sent)).toBe('COMPLETED');
    expect(getText(sent)).not.toBe('');

    const items = await collect(client.stream(text('What is the weather in Lisbon?')));
    expect(check(a2aProtocol, items).violations).toEqual([]);
    const streamed = await answer(foldItems(items));
    expect(getText(streamed)).toBe(getText(sent));

    const got = await client.get(streamed.id);
    expect(getText(got)).toBe(getText(sent));
    expect(got.history?.[0]?.parts).toEqual([{ text: 'What is the weather in Lisbon?' }]);
    const { tasks } = await client.list({ contextId: streamed.contextId, includeArtifacts: true });
    expect(tasks.map(({ id }) => id)).toEqual([streamed.id]);
    expect(getText(tasks[0]!)).toBe(getText(sent));
  });

  it('pauses for input, and continues the same task with a data part', async () => {
    const client = await connect('helper');
    const items = await collect(client.stream(text('Send an email to Ada')));
    expect(check(a2aProtocol, items).violations).toEqual([]);
    const paused = foldItems(items);
    expect(getState(paused)).toBe('INPUT_REQUIRED');
    const [input, ...others] = getInputs(paused);
    expect(others).toEqual([]);
    expect(input).toMatchObject({ kind: 'approval', tool: 'sendEmail', input: { to: 'Ada' } });
    expect(await client.get(paused.id)).toMatchObject({ status: { state: 'TASK_STATE_INPUT_REQUIRED' } });
    const parts = [{ data: { questionId: input!.questionId, approved: true } }];
    const rest = await collect(client.stream({ taskId: paused.id, contextId: paused.contextId, parts }));
    expect(check(a2aProtocol, rest).violations).toEqual([]);
    const done = foldItems(rest);
    expect(done.id).toBe(paused.id);
    expect(getState(done)).toBe('COMPLETED');
    expect(getText(done).startsWith(getText(paused))).toBe(true);
    expect(getText(done)).toBe(getText(await client.get(done.id)));
  });

  it.each([
    { reply: 'yes', shown: 'sent' },
    { reply: 'no, wait', shown: 'not' },
  ])('answers the only open question with the text "$reply"', async ({ reply, shown }) => {
    const client = await connect('helper');
    const paused = await client.send(text('Send an email to Ada'));
    const done = await client.send({ taskId: paused.id, ...text(reply) });
    expect(getState(done)).toBe('COMPLETED');
    expect(getText(done).slice(getText(paused).length)).toContain(shown);
  });

  it('repeats an answer without effect, and rejects a different one', async () => {
    const client = await connect('helper');
    const paused = await client.send(text('Send an email to Ada'));
    const { questionId } = getInputs(paused)[0]!;
    const parts = [{ data: { questionId, approved: true } }];
    const done = await client.send({ taskId: paused.id, parts });
    expect(getText(await client.send({ taskId: paused.id, parts }))).toBe(getText(done));
    const other = client.send({ taskId: paused.id, parts: [{ data: { questionId, approved: false } }] });
    await expect(other).rejects.toMatchObject({ name: 'UnsupportedOperationError' });
  });

  it('starts one task for a message that is sent twice', async () => {
    const client = await connect('helper');
    const message = { messageId: crypto.randomUUID(), ...text('Hello') };
    const [first, second] = [await client.send(message), await client.send(message)];
    expect(second).toEqual(first);
    expect((await client.send({ ...message, ...text('Something else') })).id).not.toBe(first.id);
  });

  it('starts a new task in the same context', async () => {
    const client = await connect('helper');
    const first = await client.send(text('Hello'));
    const second = await client.send({ contextId: first.contextId, ...text('Hello again') });
    expect(second.contextId).toBe(first.contextId);
    expect(second.id).not.toBe(first.id);
    const { tasks } = await client.list({ contextId: first.contextId });
    expect(tasks.map(({ id }) => id)).toEqual([second.id, first.id]);
    expect(tasks.every(({ artifacts }) => artifacts === undefined)).toBe(true);
  });

  it('returns immediately on request', async () => {
    const client = await connect('helper');
    const task = await client.send(text('Hello'), { returnImmediately: true });
    await expect.poll(async () => getState(await client.get(task.id)), { timeout: 30_000 }).toBe('COMPLETED');
  });

  it('lists tasks on pages, by state and by time', async () => {
    const client = await connect('helper');
    const { contextId } = await client.send(text('Hello'));
    await client.send({ contextId, ...text('Hello') });
    await client.send({ contextId, ...text('Send an email to Ada') });
    const page = await client.list({ contextId, pageSize: 2 });
    expect(page).toMatchObject({ total: 3, tasks: [{}, {}] });
    const rest = await client.list({ contextId, pageSize: 2, pageToken: page.next });
    expect(rest).toMatchObject({ total: 3, tasks: [{}], next: '' });
    const waiting = await client.list({ contextId, status: 6 });
    expect(waiting.tasks.map(getState)).toEqual(['INPUT_REQUIRED']);
    const future = new Date(Date.now() + 3_600_000).toISOString();
    expect(await client.list({ contextId, statusTimestampAfter: future })).toMatchObject({ tasks: [] });
  });

  it('sends and receives files', async () => {
    const client = await connect('helper');
    const raw = Buffer.from('A note').toString('base64');
    const parts = [{ text: 'Draw a chart' }, { raw, mediaType: 'text/plain', filename: 'note.txt' }];
    const task = await client.send({ parts });
    const file = task.artifacts?.flatMap((artifact) => artifact.parts).find((part) => part.text === undefined);
    expect(file?.mediaType).toBe('image/svg+xml');
    expect(Buffer.from(file!.raw!, 'base64').toString()).toContain('<svg');
    const [prompt] = (await client.get(task.id)).history!;
    expect(prompt?.parts[1]).toMatchObject({ mediaType: 'text/plain', filename: 'note.txt' });
  });

  it('reports the failure of a run in its stream and in its task', async () => {
    const client = await connect('helper');
    const items = await collect(client.stream(text('Please fail')));
    const task = foldItems(items);
    expect(getState(task)).toBe('FAILED');
    expect(task.status.message?.parts[0]?.text).toBe('The demo failed on purpose. Nothing is broken.');
    const { status } = await client.get(task.id);
    expect(status.message?.parts[0]?.text).toBe('The demo failed on purpose. Nothing is broken.');
  });

  it('rejects unknown tasks, other agents, ended tasks and wrong contexts', async () => {
    const client = await connect('helper');
    const done = await client.send(text('Hello'));
    const other = await connect('swarm');
    for (const call of [
      client.get('unknown'),
      client.cancel('unknown'),
      collect(client.subscribe('unknown')),
      client.send({ taskId: 'unknown', ...text('Hi') }),
      other.get(done.id),
    ]) {
      await expect(call).rejects.toMatchObject({ name: 'TaskNotFoundError' });
    }
    await expect(client.cancel(done.id)).rejects.toMatchObject({ name: 'TaskNotCancelableError' });
    await expect(client.send({ taskId: done.id, ...text('More') })).rejects.toMatchObject({
      name: 'UnsupportedOperationError',
    });
    await expect(collect(client.subscribe(done.id))).rejects.toMatchObject({ name: 'UnsupportedOperationError' });
    await expect(client.send({ taskId: done.id, contextId: 'other', ...text('More') })).rejects.toMatchObject({
      name: 'RequestMalformedError',
    });
    await expect(client.send({ parts: [] })).rejects.toMatchObject({ name: 'RequestMalformedError' });
    const invalid = { parts: [{ raw: 'aGk=', mediaType: 'nonsense' }] };
    await expect(client.send(invalid)).rejects.toMatchObject({ name: 'ContentTypeNotSupportedError' });
  });

  it('sends reasoning, tools and agents to clients that activate the extension', async () => {
    const client = await connect('helper', { 'A2A-Extensions': 'urn:intertie:a2a:events:1' });
    const items = await collect(client.stream(text('What is the weather in Lisbon?')));
    expect(check(a2aProtocol, items).violations).toEqual([]);
    const types = items.flatMap((item: A2AStreamItem) => {
      const data = 'statusUpdate' in item ? item.statusUpdate.metadata?.['urn:intertie:a2a:events:1'] : undefined;
      return (data as { event?: { type: string } } | undefined)?.event?.type ?? [];
    });
    expect(types).toEqual(expect.arrayContaining(['reasoning-start', 'tool-call', 'tool-result']));
  });
});

describe('the A2A endpoint', () => {
  const endpoint = (): string => `${server.url}/api/agents/helper/a2a`;
  const post = (body: string, headers: Record<string, string> = {}, path = ''): Promise<Response> =>
    fetch(`${endpoint()}${path}`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...headers },
    });
  const readCode = async (response: Response): Promise<number> =>
    ((await response.json()) as { error: { code: number } }).error.code;

  it('serves the cards of all agents, and that of the default agent at the root', async () => {
    const root = await fetch(`${server.url}/.well-known/agent-card.json`);
    const own = await fetch(`${endpoint()}/.well-known/agent-card.json`);
    const card = (await own.json()) as { name: string };
    expect(await root.json()).toEqual(card);
    expect(card).toMatchObject({
      name: 'helper',
      supportedInterfaces: [
        { url: endpoint(), protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { url: endpoint(), protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      ],
      capabilities: { streaming: true, pushNotifications: false },
    });
    const etag = own.headers.get('etag')!;
    const again = await fetch(`${endpoint()}/.well-known/agent-card.json`, { headers: { 'if-none-match': etag } });
    expect(again.status).toBe(304);
    const swarm = await fetch(`${server.url}/api/agents/swarm/a2a/.well-known/agent-card.json`);
    const { skills } = (await swarm.json()) as { skills: Array<{ name: string }> };
    expect(skills.map(({ name }) => name)).toContain('researcher');
  });

  it.each([
    { what: 'text that is not JSON', body: '{', code: -32_700 },
    { what: 'a batch', body: '[]', code: -32_600 },
    { what: 'a request without a method', body: '{"jsonrpc":"2.0","id":1}', code: -32_600 },
    { what: 'an unknown method', body: '{"jsonrpc":"2.0","id":1,"method":"message/send","params":{}}', code: -32_601 },
    { what: 'missing parameters', body: '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}', code: -32_602 },
    {
      what: 'push notifications',
      body: '{"jsonrpc":"2.0","id":1,"method":"GetTaskPushNotificationConfig","params":{}}',
      code: -32_003,
    },
    { what: 'the extended card', body: '{"jsonrpc":"2.0","id":1,"method":"GetExtendedAgentCard"}', code: -32_004 },
  ])('rejects $what with the code of JSON-RPC', async ({ body, code }) => {
    const response = await post(body);
    expect(response.status).toBe(200);
    expect(await readCode(response)).toBe(code);
  });

  it('rejects other content types and versions', async () => {
    expect(await readCode(await post('{}', { 'content-type': 'text/plain' }))).toBe(-32_005);
    expect((await post('{}', { 'content-type': 'text/plain' }, '/message:send')).status).toBe(400);
    const body = '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}';
    expect(await readCode(await post(body, { 'a2a-version': '' }))).toBe(-32_009);
    expect(await readCode(await post(body, { 'a2a-version': '9.9' }))).toBe(-32_009);
  });

  it('rejects calls without credentials, but not the card', async () => {
    const guarded = await startDemoServer({ token: 'a-long-secret-token' });
    try {
      const url = `${guarded.url}/api/agents/helper/a2a`;
      const card = await fetch(`${url}/.well-known/agent-card.json`);
      expect(await card.json()).toMatchObject({ securitySchemes: { bearer: {} } });
      for (const path of ['', '/message:send']) {
        const response = await fetch(`${url}${path}`, { method: 'POST', body: '{}' });
        expect(response.status).toBe(401);
        expect(response.headers.get('www-authenticate')).toBe('Bearer');
      }
      const client = await connectA2A(url, 'JSONRPC', { authorization: 'Bearer a-long-secret-token' });
      expect(getState(await client.send(text('Hello')))).toBe('COMPLETED');
    } finally {
      await guarded.close();
    }
  });
});

describe.each(bindings)('subscriptions on %s', (binding) => {
  it('continues after a client has left, and cancels a task', async () => {
    const slow = await startDemoServer({ pace: 0.1 });
    try {
      const client = await connectA2A(`${slow.url}/api/agents/helper/a2a`, binding);
      const leave = new AbortController();
      const before: A2AStreamItem[] = [];
      try {
        for await (const item of client.stream(text('Write a long answer'), leave.signal)) {
          before.push(item);
          if (before.length === 5) leave.abort();
        }
      } catch {
        // The client aborts its own request.
      }
      const { id } = foldItems(before);
      const items = await collect(client.subscribe(id));
      expect(check(a2aProtocol, items).violations).toEqual([]);
      const done = foldItems(items);
      expect(getState(done)).toBe('COMPLETED');
      expect(getText(done)).toBe(getText(await client.get(id)));
      expect(getText(done).startsWith(getText(foldItems(before)))).toBe(true);

      const live = await client.send(text('Write a long answer'), { returnImmediately: true });
      expect(getState(await client.cancel(live.id))).toBe('CANCELED');
      await expect(client.cancel(live.id)).rejects.toMatchObject({ name: 'TaskNotCancelableError' });
    } finally {
      await slow.close();
    }
  });

  it('waits with a task that needs input, and streams its continuation', async () => {
    const client = await connectA2A(`${server.url}/api/agents/helper/a2a`, binding);
    const paused = await client.send(text('Send an email to Ada'));
    const items: A2AStreamItem[] = [];
    for await (const item of client.subscribe(paused.id)) {
      items.push(item);
      if (items.length === 1) await client.send({ taskId: paused.id, ...text('yes') });
    }
    expect(check(a2aProtocol, items).violations).toEqual([]);
    expect(items[0]).toMatchObject({ task: { status: { state: 'TASK_STATE_INPUT_REQUIRED' } } });
    const done = foldItems(items);
    expect(getState(done)).toBe('COMPLETED');
    expect(getText(done)).toBe(getText(await client.get(paused.id)));
  });

  it('cancels a task that waits for input', async () => {
    const client = await connectA2A(`${server.url}/api/agents/helper/a2a`, binding);
    const paused = await client.send(text('Send an email to Ada'));
    expect(getState(await client.cancel(paused.id))).toBe('CANCELED');
    await expect(client.send({ taskId: paused.id, ...text('yes') })).rejects.toMatchObject({
      name: 'UnsupportedOperationError',
    });
  });
});
