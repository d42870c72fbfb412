import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

/** The example as `npm run replay` runs it; `npm test` has built it. */
function replay(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const main = join(root, 'examples/terminal-replay/dist/main.js');
  return spawnSync(process.execPath, [main, ...args], { encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } });
}

describe('npm run replay', () => {
  it('plays the corpus to the end', () => {
    const { status, stdout, stderr } = replay();
    expect(stderr).toBe('');
    expect(status).toBe(0);
    expect(stdout).toContain('paused, waits for an answer');
    expect(stdout).toContain('● complete');
    expect(stdout).toContain('✓ the message unfolds into events, and folds back into itself');
  });

  it('gives the message to machines', () => {
    const message = JSON.parse(replay('--json').stdout) as { status: string; content: { runs: unknown[] } };
    expect(message).toMatchObject({
      status: 'complete',
      content: { runs: [{ outcome: 'paused' }, { outcome: 'complete' }] },
    });
  });

  it.each([
    [['--help'], 0, /usage: npm run replay/],
    [['no-such.tape.jsonl'], 2, /There is no file no-such\.tape\.jsonl/],
    [['package.json'], 2, /Is this file a tape\?/],
    [['--speed', '0'], 2, /give a number above 0/],
    [['--loud'], 2, /--loud/],
  ])('%j', (args, status, words) => {
    const result = spawnSync(process.execPath, [join(root, 'examples/terminal-replay/dist/main.js'), ...args], {
      cwd: root,
      encoding: 'utf8',
    });
    expect(result.status).toBe(status);
    expect(result.stdout + result.stderr).toMatch(words);
  });
});

describe('npm start', () => {
  const main = join(root, 'examples/chat-page/dist/main.js');
  const run = (...args: string[]) => spawnSync(process.execPath, [main, ...args], { cwd: root, encoding: 'utf8' });
  let child: ChildProcess | undefined;
  let url = '';

  // The first time, the page is built.
  beforeAll(async () => {
    const started = spawn(process.execPath, [main, '--port', '0', '--speed', '1000'], { cwd: root });
    child = started;
    url = await new Promise<string>((resolve, reject) => {
      let said = '';
      started.stdout.on('data', (data: Buffer) => {
        said += data.toString();
        const found = /http:\/\/localhost:\d+/.exec(said);
        if (found) resolve(found[0]);
      });
      started.stderr.on('data', (data: Buffer) => void (said += data.toString()));
      started.on('exit', () => reject(new Error(`It ended: ${said}`)));
    });
  }, 60_000);

  afterAll(() => void child?.kill());

  it('serves the page, and nothing else of the machine', async () => {
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

  it('answers a chat, and asks', async () => {
    const messages = [{ id: 'u', role: 'user', parts: [{ type: 'text', text: 'Why is the build slow?' }] }];
    const response = await fetch(`${url}/api/chat`, { method: 'POST', body: JSON.stringify({ id: 't', messages }) });
    expect(await response.text()).toContain('"type":"tool-approval-request"');
    expect((await fetch(`${url}/api/chat/t/stream`)).status).toBe(204);
    expect((await fetch(`${url}/api/chat`, { method: 'POST', body: '{}' })).status).toBe(400);
  });

  it('says that a port is taken, and what to do', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const { status, stderr } = run('--port', String(port));
    expect(status).toBe(2);
    expect(stderr).toContain(`Port ${port} is taken.`);
    expect(stderr).toContain(`npm start -- --port ${port + 1}`);
    server.close();
  });

  it.each([
    [['--help'], 0, /usage: npm start/],
    [['--port', 'x'], 2, /give a number up to 65535/],
    [['--speed', '0'], 2, /give a number above 0/],
    [['--loud'], 2, /--loud/],
  ])('%j', (args, status, words) => {
    const result = run(...args);
    expect(result.status).toBe(status);
    expect(result.stdout + result.stderr).toMatch(words);
  });
});
