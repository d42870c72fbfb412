import { spawn, spawnSync, type ChildProcess, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

/** Runs the example like `npm run replay`. `npm test` has built it. */
function replay(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const main = join(root, 'examples/terminal-replay/dist/main.js');
  return spawnSync(process.execPath, [main, ...args], { encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } });
}

/** Resolves with the URL that a server prints. */
function waitForUrl(child: ChildProcessWithoutNullStreams): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    child.stdout.on('data', (data: Buffer) => {
      output += data.toString();
      const found = /http:\/\/(?:localhost|127\.0\.0\.1):\d+/.exec(output);
      if (found) resolve(found[0]);
    });
    child.stderr.on('data', (data: Buffer) => void (output += data.toString()));
    child.on('exit', () => reject(new Error(`The server exited: ${output}`)));
  });
}

describe('npm run replay', () => {
  it('plays the corpus to the end', () => {
    const { status, stdout, stderr } = replay();
    expect(stderr).toBe('');
    expect(status).toBe(0);
    expect(stdout).toContain('paused, waits for an answer');
    expect(stdout).toContain('● complete');
    expect(stdout).toContain('✓ the message unfolds into events that fold into the same message');
  });

  it('prints the message as JSON', () => {
    const message = JSON.parse(replay('--json').stdout) as { status: string; content: { runs: unknown[] } };
    expect(message).toMatchObject({
      status: 'complete',
      content: { runs: [{ outcome: 'paused' }, { outcome: 'complete' }] },
    });
  });

  it.each([
    [['--help'], 0, /usage: npm run replay/],
    [['no-such.tape.jsonl'], 2, /File not found: no-such\.tape\.jsonl/],
    [['package.json'], 2, /Is this file a tape\?/],
    [['--speed', '0'], 2, /Use a number above 0/],
    [['--loud'], 2, /--loud/],
  ])('handles the arguments %j', (args, status, text) => {
    const result = spawnSync(process.execPath, [join(root, 'examples/terminal-replay/dist/main.js'), ...args], {
      cwd: root,
      encoding: 'utf8',
    });
    expect(result.status).toBe(status);
    expect(result.stdout + result.stderr).toMatch(text);
  });
});

describe('npm start', () => {
  const main = join(root, 'examples/chat-page/dist/main.js');
  const run = (...args: string[]) => spawnSync(process.execPath, [main, ...args], { cwd: root, encoding: 'utf8' });
  let child: ChildProcess | undefined;
  let url = '';

  // The first start builds the page.
  beforeAll(async () => {
    const started = spawn(process.execPath, [main, '--port', '0', '--speed', '1000'], { cwd: root });
    child = started;
    url = await waitForUrl(started);
  }, 60_000);

  afterAll(() => void child?.kill());

  it('serves the page and no other files', async () => {
    const page = await fetch(url);
    expect(page.headers.get('content-type')).toContain('text/html');
    const html = await page.text();
    for (const [, file] of html.matchAll(/(?:src|href)="\.?(\/[^"]+)"/g)) {
      expect((await fetch(url + file)).status, file).toBe(200);
    }
    for (const path of ['/nothing.js', '/..%2fmain.js', '/page/', '/main.js.map']) {
      expect((await fetch(url + path)).status, path).toBe(404);
    }
  });

  it('answers a chat with an approval request', async () => {
    const messages = [{ id: 'u', role: 'user', parts: [{ type: 'text', text: 'Why is the build slow?' }] }];
    const response = await fetch(`${url}/api/chat`, { method: 'POST', body: JSON.stringify({ id: 't', messages }) });
    expect(await response.text()).toContain('"type":"tool-approval-request"');
    expect((await fetch(`${url}/api/chat/t/stream`)).status).toBe(204);
    expect((await fetch(`${url}/api/chat`, { method: 'POST', body: '{}' })).status).toBe(400);
  });

  it('reports a port that is in use, with a fix', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const { status, stderr } = run('--port', String(port));
    expect(status).toBe(2);
    expect(stderr).toContain(`Port ${port} is in use.`);
    expect(stderr).toContain(`npm start -w @intertie-example/chat-page -- --port ${port + 1}`);
    server.close();
  });

  it.each([
    [['--help'], 0, /usage: npm start/],
    [['--port', 'x'], 2, /use a number from 0 to 65535/],
    [['--speed', '0'], 2, /use a number above 0/],
    [['--loud'], 2, /--loud/],
  ])('handles the arguments %j', (args, status, text) => {
    const result = run(...args);
    expect(result.status).toBe(status);
    expect(result.stdout + result.stderr).toMatch(text);
  });
});

describe('examples/mail-chat', () => {
  const folder = join(root, 'examples/mail-chat');
  let child: ChildProcess | undefined;
  let url = '';

  beforeAll(async () => {
    const vite = join(root, 'node_modules/vite/bin/vite.js');
    const { MAIL_BASE_URL: _, ...env } = process.env;
    const started = spawn(process.execPath, [vite, '--port', '0'], { cwd: folder, env: { ...env, NO_COLOR: '1' } });
    child = started;
    url = await waitForUrl(started);
  }, 60_000);

  afterAll(() => void child?.kill());

  const post = async (messages: object[]): Promise<string> => {
    const body = JSON.stringify({ id: 't', messages, trigger: 'submit-message' });
    return (await fetch(`${url}/api/chat`, { method: 'POST', body })).text();
  };
  const parseChunks = (stream: string): Array<{ [key: string]: unknown }> =>
    stream.split('\n\n').flatMap((frame) => (frame.startsWith('data: {') ? [JSON.parse(frame.slice(6))] : []));
  const toMessage = (text: string): object => ({ id: 'u', role: 'user', parts: [{ type: 'text', text }] });

  it('serves the page', async () => {
    const html = await (await fetch(url)).text();
    expect(html).toContain('A chat with a swarm');
    expect(await (await fetch(`${url}/chat-page.tsx`)).text()).toContain('useChat');
  });

  it('streams the reasoning and tools of each agent', async () => {
    const stream = await post([toMessage('Where does the time go in our build?')]);
    expect(stream).toContain('"type":"reasoning-delta"');
    for (const name of ['supervisor', 'researcher']) expect(stream).toContain(`"name":"${name}"`);
    expect(stream).toContain('"type":"tool-output-available"');
    expect(stream).toContain('"finishReason":"stop"');
  });

  it('asks the user, and continues with the answer', async () => {
    const chunks = parseChunks(await post([toMessage('Plan a trip')]));
    const { messageId: id, messageMetadata } = chunks.find(({ type }) => type === 'start')!;
    const {
      toolCallId,
      toolName,
      input,
      providerMetadata: callProviderMetadata,
    } = chunks.find(({ type }) => type === 'tool-input-available')!;
    expect(toolName).toBe('ask_user');
    // The state of the page after addToolOutput().
    const settled = { state: 'output-available', input, output: 'money', callProviderMetadata };
    const part = { type: 'tool-ask_user', toolCallId, ...settled };
    const { intertie } = messageMetadata as { intertie: object };
    const metadata = { intertie: { ...intertie, waitingFor: [{ type: 'tool', toolCallId }] } };
    const answered = await post([toMessage('Plan a trip'), { id, role: 'assistant', metadata, parts: [part] }]);
    expect(answered).toContain('bus');
  });
});
