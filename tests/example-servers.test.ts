import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SendMessageRequest, Task } from '@a2a-js/sdk';
import { ClientFactory } from '@a2a-js/sdk/client';
import { HttpAgent } from '@ag-ui/client';
import OpenAI from 'openai';
import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
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

/** Starts an example like its README, on a free port, and returns the URL that it prints. */
async function start(name: string, env: Record<string, string> = {}): Promise<{ url: string; child: ChildProcess }> {
  const main = join(root, `examples/${name}/dist/main.js`);
  const child = spawn(process.execPath, [main], { cwd: folder, env: { ...process.env, PORT: '0', ...env } });
  children.add(child);
  const url = await new Promise<string>((resolve, reject) => {
    let output = '';
    const listen = (data: Buffer): void => {
      output += data.toString();
      const found = /http:\/\/127\.0\.0\.1:\d+\S*/.exec(output);
      if (found) resolve(found[0]);
    };
    child.stdout.on('data', listen);
    child.stderr.on('data', listen);
    child.on('exit', () => reject(new Error(`examples/${name} exited: ${output}`)));
  });
  return { url, child };
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

  it('resumes a chat after a disconnect: express-app', async () => {
    const { url } = await start('express-app');
    expect(await disconnectAndResume(url)).toMatch(/heat pump/i);
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
