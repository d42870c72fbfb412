import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SendMessageRequest, Task } from '@a2a-js/sdk';
import { ClientFactory } from '@a2a-js/sdk/client';
import { HttpAgent } from '@ag-ui/client';
import OpenAI from 'openai';
import { DefaultChatTransport, isToolUIPart, readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import { transformSync } from 'rolldown/utils';
import { afterAll, describe, expect, it } from 'vitest';

import { fillFolder, newPostgresUrl } from '../packages/postgres/test/databases.ts';

const root = join(import.meta.dirname, '..');
const children = new Set<ChildProcess>();
const folder = mkdtempSync(join(tmpdir(), 'intertie-examples-'));

afterAll(async () => {
  await Promise.all([...children].map(stop));
  rmSync(folder, { recursive: true, force: true });
});

async function stop(child: ChildProcess): Promise<void> {
  children.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}

type Example = { url: string; child: ChildProcess; getOutput: () => string };

/** Starts an example like its README, on a free port, and returns the URL that it prints. */
async function start(name: string, env: Record<string, string> = {}, cwd = folder): Promise<Example> {
  const main = join(root, `examples/${name}/dist/main.js`);
  const child = spawn(process.execPath, [main], { cwd, env: { ...process.env, PORT: '0', ...env } });
  children.add(child);
  let output = '';
  const url = await new Promise<string>((resolve, reject) => {
    const listen = (data: Buffer): void => {
      output += data.toString();
      const found = /http:\/\/127\.0\.0\.1:\d+\S*/.exec(output);
      if (found) resolve(found[0]);
    };
    child.stdout.on('data', listen);
    child.stderr.on('data', listen);
    child.on('exit', () => reject(new Error(`examples/${name} exited: ${output}`)));
  });
  return { url, child, getOutput: () => output };
}

const firstMessage: UIMessage = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Heat pumps' }] };
const toRequest = (
  chatId: string,
  ...laterMessages: UIMessage[]
): Parameters<DefaultChatTransport<UIMessage>['sendMessages']>[0] => ({
  chatId,
  trigger: 'submit-message',
  messageId: undefined,
  abortSignal: undefined,
  messages: [firstMessage, ...laterMessages],
});

async function read(stream: ReadableStream<UIMessageChunk> | null): Promise<UIMessage | undefined> {
  let last: UIMessage | undefined;
  if (stream) for await (const message of readUIMessageStream({ stream })) last = message;
  return last;
}

const getText = (message: UIMessage | undefined): string =>
  (message?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('\n');

type Fetch = typeof globalThis.fetch;

/** Disconnects during a response, resumes it in another chat with the same id, and returns the text. */
async function disconnectAndResume(api: string, fetch?: Fetch): Promise<string> {
  const transport = new DefaultChatTransport({ api, ...(fetch && { fetch }) });
  const first = (await transport.sendMessages(toRequest('t1'))).getReader();
  expect((await first.read()).value).toMatchObject({ type: 'start' });
  await first.cancel();
  const resumed = await new DefaultChatTransport({ api, ...(fetch && { fetch }) }).reconnectToStream({ chatId: 't1' });
  return getText(await read(resumed));
}

describe('examples', () => {
  it('resumes a chat after a disconnect: hono-app', async () => {
    await fillFolder(join(folder, '.intertie'));
    const { url } = await start('hono-app');
    expect(await disconnectAndResume(url)).toMatch(/heat pump/i);
  });

  it('shows the swarm of another server: a2a-relay', async () => {
    const { url } = await start('a2a-relay');
    const client = await new ClientFactory().createFromUrl(`${url}/`);
    const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'Heat pumps' }] };
    const task = Task.toJSON((await client.sendMessage(SendMessageRequest.fromJSON({ message }))) as Task);
    expect(task).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
    const { origin } = new URL(url);
    const { threads } = (await (await fetch(`${origin}/api/threads`)).json()) as { threads: Array<{ id: string }> };
    const stored = await fetch(`${origin}/api/threads/${threads[0]!.id}/messages?format=canonical`);
    expect(await stored.text()).toContain('"name":"researcher"');
  });

  it('resumes a chat after a disconnect, called like a Next.js route: next-route', async () => {
    const path = join(root, 'examples/next-route/dist/app/api/chat/[[...path]]/route.js');
    const route = (await import(path)) as Record<'GET' | 'POST', (request: Request) => Promise<Response>>;
    const fetch: Fetch = (input, init) => {
      const request = new Request(input, init);
      return route[request.method as 'GET' | 'POST'](request);
    };
    expect(await disconnectAndResume('http://app.test/api/chat', fetch)).toMatch(/heat pump/i);
  });

  it('serves an unmodified HttpAgent: ag-ui-server', async () => {
    const { url } = await start('ag-ui-server');
    const agent = new HttpAgent({ url, threadId: 't1' });
    agent.addMessage({ id: 'u1', role: 'user', content: 'Heat pumps' });
    await agent.runAgent();
    expect(JSON.stringify(agent.messages.filter(({ role }) => role === 'assistant'))).toMatch(/heat pump/i);
  });
});

describe('examples/express-app', () => {
  const main = readFileSync(join(root, 'examples/express-app/src/main.ts'), 'utf8');
  const asUser =
    (name: string): Fetch =>
    (input, init) => {
      const request = new Request(input, init);
      request.headers.set('authorization', `Bearer ${name}-token`);
      return globalThis.fetch(request);
    };
  const ada = asUser('ada');

  async function loadMessages(api: string, user: Fetch): Promise<UIMessage[]> {
    const response = await user(api.replace('/chat', '/threads/t1/messages'));
    return ((await response.json()) as { messages: UIMessage[] }).messages;
  }

  it('is the program of docs/own-server.md', () => {
    const page = readFileSync(join(root, 'docs/own-server.md'), 'utf8');
    expect(/^```ts title=server\.mjs\n(.*?)^```$/ms.exec(page)?.[1]).toBe(main);
    // Node 20 cannot run a program with types.
    expect(transformSync('server.mjs', main).errors).toEqual([]);
  });

  it('continues a run and keeps its question after a crash, separates users, and exits on SIGTERM', async () => {
    const cwd = join(folder, 'express-app');
    await fillFolder(join(cwd, '.intertie'));
    const first = await start('express-app', {}, cwd);
    const email: UIMessage = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Send an email to Ada' }] };
    const request = { ...toRequest('t1'), messages: [email] };
    const chat = new DefaultChatTransport({ api: first.url, fetch: ada });
    await (await chat.sendMessages(request)).getReader().read();
    expect(await loadMessages(first.url, ada)).toMatchObject([{ role: 'user' }]);
    await stop(first.child);

    const second = await start('express-app', {}, cwd);
    // Before any request.
    const takeover = "run of another process taken over { agent: 'helper' }";
    await expect.poll(second.getOutput, { timeout: 20_000 }).toContain(takeover);
    await expect.poll(() => loadMessages(second.url, ada), { timeout: 20_000 }).toHaveLength(2);
    const [, question] = await loadMessages(second.url, ada);
    const call = question!.parts.findLast((part) => isToolUIPart(part))!;
    expect(call).toMatchObject({ type: 'tool-sendEmail', state: 'approval-requested', input: { to: 'Ada' } });

    expect(await loadMessages(second.url, asUser('bob'))).toEqual([]);
    expect((await asUser('bob')(`${second.url}/t1/stream`)).status).toBe(204);
    expect((await asUser('bob')(`${second.url}/t1/stop`, { method: 'POST' })).status).toBe(404);
    expect((await fetch(`${second.url}/t1/stream`)).status).toBe(401);
    const asBob = new DefaultChatTransport({ api: second.url, fetch: asUser('bob') });
    await (await asBob.sendMessages(toRequest('t1'))).pipeTo(new WritableStream());
    expect((await loadMessages(second.url, ada)).map(({ id }) => id)).toEqual(['u1', question!.id]);
    expect(await loadMessages(second.url, asUser('bob'))).toHaveLength(2);

    const approval = { id: call.approval!.id, approved: true };
    const parts = question!.parts.map((part) =>
      part === call ? { ...call, state: 'approval-responded', approval } : part,
    );
    const answered = { ...request, messages: [email, { ...question, parts } as UIMessage] };
    const resumed = new DefaultChatTransport({ api: second.url, fetch: ada });
    await (await resumed.sendMessages(answered)).pipeTo(new WritableStream());
    expect(getText((await loadMessages(second.url, ada))[1])).toContain('the email is **sent**');

    const exited = new Promise((resolve) => second.child.once('exit', resolve));
    second.child.kill('SIGTERM');
    expect(await exited).toBe(0);
  });

  it('refuses requests of pages of other sites', async () => {
    const { url } = await start('express-app', { DATABASE_URL: await newPostgresUrl() });
    const { origin } = new URL(url);
    // A page of another site can send this without a preflight request, and with the cookies of the user.
    const post = (headers: Record<string, string>): Promise<Response> =>
      ada(url, { method: 'POST', headers, body: JSON.stringify({ id: 't1', message: firstMessage }) });
    for (const other of ['https://elsewhere.example', 'null', `${origin}.elsewhere.example`, `${origin}0`])
      expect((await post({ origin: other, 'content-type': 'text/plain' })).status).toBe(403);
    expect(await loadMessages(url, ada)).toEqual([]);
    const responses = [await post({ origin }), await post({})];
    for (const response of responses) {
      expect(response.status).toBe(200);
      await response.text();
    }
  });

  it('serves the history and the stream of a run while it shuts down', async () => {
    const { url, child } = await start('express-app', { DATABASE_URL: await newPostgresUrl() });
    const text = 'Write a long answer';
    const message = { id: 'u1', role: 'user', parts: [{ type: 'text', text }] };
    const answer = await ada(url, { method: 'POST', body: JSON.stringify({ id: 't1', message }) });
    const reader = answer.body!.getReader();
    await reader.read();
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    const send = async (): Promise<number> => {
      const other = { id: 't2', message: firstMessage };
      return (await ada(url, { method: 'POST', body: JSON.stringify(other) })).status;
    };
    await expect.poll(send).toBe(503);
    expect(await loadMessages(url, ada)).toMatchObject([{ role: 'user' }]);
    const resumed = await ada(`${url}/t1/stream`);
    expect(resumed.status).toBe(200);
    await resumed.body!.cancel();
    await reader.cancel();
    expect((await ada(`${url}/t1/stop`, { method: 'POST' })).status).toBe(200);
    expect(await exited).toBe(0);
  });

  it('resumes a chat after a disconnect', async () => {
    const { url } = await start('express-app', { DATABASE_URL: await newPostgresUrl() });
    expect(await disconnectAndResume(url, ada)).toMatch(/heat pump/i);
  });
});

describe('examples/openai-api', () => {
  it('serves an unmodified openai client', async () => {
    const { url } = await start('openai-api');
    const client = new OpenAI({ baseURL: url, apiKey: 'none' });
    const [model] = (await client.models.list()).data;
    const response = await client.responses.create({ model: model!.id, input: 'Heat pumps' });
    expect(response.output_text).toMatch(/heat pump/i);
  });
});

describe('examples/two-nodes', () => {
  it('reads and stops a run from the other node, and continues the thread after its node died', async () => {
    const DATABASE_URL = await newPostgresUrl();
    const [a, b] = await Promise.all([start('two-nodes', { DATABASE_URL }), start('two-nodes', { DATABASE_URL })]);
    const chats = {
      a: new DefaultChatTransport({ api: a.url.slice(0, -1) }),
      b: new DefaultChatTransport({ api: b.url.slice(0, -1) }),
    };
    const first = (await chats.a.sendMessages(toRequest('t1'))).getReader();
    await first.read();
    const followed = read(await chats.b.reconnectToStream({ chatId: 't1' }));
    const stopped = await fetch(`${b.url}t1/stop`, { method: 'POST' });
    expect(stopped.status).toBe(200);
    expect((await followed)?.role).toBe('assistant');
    await stop(a.child);
    const second: UIMessage = { id: 'u2', role: 'user', parts: [{ type: 'text', text: 'Solar panels' }] };
    const message = await read(await chats.b.sendMessages(toRequest('t1', second)));
    expect(getText(message)).toMatch(/solar panel/i);
  });
});
