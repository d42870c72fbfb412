import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { filesIn, root } from '../../scripts/workspace.mjs';
import { launch } from '../browser/browser.ts';
import { startRegistry, type Registry } from './registry.ts';
import { startIntertie, type StartedIntertie } from './start-intertie.ts';
import { installedVersions, startPostgres } from './system-postgres.ts';

const run = promisify(execFile);
const base = mkdtempSync(join(tmpdir(), 'intertie-published-'));
let registry: Registry;

// Everything below is installed from this registry only, in empty folders.
beforeAll(async () => {
  registry = await startRegistry(newFolder('registry'));
}, 300_000);
afterAll(async () => {
  await registry?.stop();
  rmSync(base, { recursive: true, force: true, maxRetries: 10 });
});

function newFolder(name: string): string {
  const folder = join(base, name);
  mkdirSync(folder);
  return folder;
}

async function npm(cwd: string, ...args: string[]): Promise<string> {
  const { stdout } = await run('npm', args, { cwd, env: registry.env, maxBuffer: 2 ** 26 });
  return stdout;
}

async function runProgram(cwd: string, program: string): Promise<string> {
  writeFileSync(join(cwd, 'program.mjs'), program);
  const { stdout, stderr } = await run(process.execPath, ['program.mjs'], { cwd });
  expect(stderr).toBe('');
  return stdout;
}

/** Sends a message to the default agent and returns the texts of the stored messages. */
async function chat(url: string, thread: string, text: string): Promise<string> {
  const messages = [{ id: `${thread}-u`, role: 'user', parts: [{ type: 'text', text }] }];
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ id: thread, messages });
  const answer = await fetch(`${url}/api/chat`, { method: 'POST', headers, body });
  expect(await answer.text()).toContain('"type":"finish"');
  return readThread(url, thread);
}

async function readThread(url: string, thread: string): Promise<string> {
  return (await fetch(`${url}/api/threads/${thread}/messages?format=ui`)).text();
}

describe('packages of a registry, installed in empty folders', () => {
  // The archives of the package and its dependencies. Its peer `ai` is not counted: applications have it.
  it('downloads less than 2 MB for @intertie/mail', async () => {
    const folder = newFolder('mail-alone');
    await npm(folder, 'install', '@intertie/mail', '--omit=peer');
    const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as {
      packages: { [path: string]: { resolved?: string; peer?: boolean } };
    };
    const archives = Object.values(lock.packages).flatMap(({ resolved, peer }) =>
      resolved && !peer ? [resolved] : [],
    );
    const sizes = await Promise.all(archives.map(async (url) => (await (await fetch(url)).arrayBuffer()).byteLength));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    const modules = join(folder, 'node_modules');
    const unpacked = filesIn(modules).reduce((sum, file) => sum + statSync(join(modules, file)).size, 0);
    const inMegabytes = (size: number): string => `${(size / 1e6).toFixed(2)} MB`;
    console.log(`@intertie/mail: ${sizes.length} archives of ${inMegabytes(bytes)}, ${inMegabytes(unpacked)} unpacked`);
    expect(existsSync(join(modules, 'ai'))).toBe(false);
    expect(bytes).toBeLessThan(2_000_000);
  });

  it('answers with a swarm after npm install @intertie/mail ai', async () => {
    const folder = newFolder('mail');
    await npm(folder, 'install', '@intertie/mail', 'ai');
    const [, , program] = /^## MAIL 1\.3 server(.*?)^```ts.*?\n(.*?)^```/ms.exec(
      readFileSync(join(root, 'docs/quick-start.md'), 'utf8'),
    )!;
    expect(await runProgram(folder, program!)).toMatch(/things happened in the swarm/);
  });

  it('names PGlite when a store in a folder needs it', async () => {
    const folder = newFolder('postgres');
    await npm(folder, 'install', '@intertie/postgres');
    const opened = `import { createStore } from '@intertie/postgres';
      await createStore('./data').catch(({ message }) => console.log(message));`;
    expect(await runProgram(folder, opened)).toBe(
      'PGlite is not installed. Run `npm install @electric-sql/pglite`, or set DATABASE_URL to a Postgres server.\n',
    );
    const drizzle = `import { createStore } from '@intertie/postgres';
      const db = { execute: async () => [], transaction: async () => undefined };
      await createStore({ db }).catch(({ message }) => console.log(message));`;
    expect(await runProgram(folder, drizzle)).toBe('Drizzle is not installed. Run `npm install drizzle-orm`.\n');
  });
});

// One installation of npx and one of the project are shared. A machine that runs other tests too installs for minutes.
describe('the first steps of a new user', { timeout: 300_000 }, () => {
  // On a timeout, the requests of npm are in the output.
  const npx = (): NodeJS.ProcessEnv => ({ ...registry.env, ANTHROPIC_API_KEY: 'none', npm_config_loglevel: 'http' });
  const project = join(base, 'chat');
  const serve = (env: NodeJS.ProcessEnv = registry.env): Promise<StartedIntertie> =>
    startIntertie(join(project, 'node_modules/.bin/intertie'), ['serve', '--port', '0'], { cwd: project, env });

  it('answers after npx intertie in an empty folder, and names the package of a key', async () => {
    const cwd = newFolder('npx');
    // npm does not pass a signal on, so that its whole process group gets it.
    const options = { cwd, env: npx(), detached: true };
    const { url, agents, stop } = await startIntertie('npx', ['--yes', 'intertie', '--port', '0'], options);
    try {
      expect(agents).toContain('helper');
      expect(agents).not.toContain('claude');
      expect(await chat(url, 't1', 'What is the weather in Lisbon?')).toContain('Lisbon');
    } finally {
      await stop();
    }
    const doctor = await run('npx', ['--yes', 'intertie', 'doctor'], { cwd, env: npx() }).catch(
      (error: object) => error,
    );
    expect((doctor as { stdout: string }).stdout).toContain(
      'ANTHROPIC_API_KEY is set, but @ai-sdk/anthropic is not installed. Run `npm install intertie @ai-sdk/anthropic`.',
    );
  });

  it('installs, tests and builds the project of npx intertie init', async () => {
    await run('npx', ['--yes', 'intertie', 'init', 'chat', '--with', 'agent'], { cwd: base, env: npx() });
    await npm(project, 'install');
    await npm(project, 'test');
    await npm(project, 'run', 'types');
    await npm(project, 'run', 'build');
    expect(readFileSync(join(project, 'dist/index.html'), 'utf8')).toContain('<title>chat</title>');
  });

  it('answers in the project over HTTP, and keeps the page and its open approval after a reload', async () => {
    const server = await serve();
    const page = await startPage(project, server.url);
    const { context, close } = await launch();
    try {
      expect(await chat(server.url, 'without-page', 'Hello')).toContain('"role":"assistant"');
      const tab = await context.newPage();
      await tab.goto(page.url);
      await tab.getByLabel('Message').fill('Send an email to Ada');
      await tab.keyboard.press('Enter');
      const allow = tab.getByRole('button', { name: 'Allow' });
      await allow.waitFor();
      await tab.reload();
      await tab.getByText('Send an email to Ada', { exact: true }).waitFor();
      await allow.waitFor();
      await allow.click();
      await tab.getByText('Done: the email is').waitFor();
      await tab.reload();
      await tab.getByText('Done: the email is').waitFor();
      expect(await tab.getByText('Send an email to Ada', { exact: true }).count()).toBe(1);
      expect(await tab.getByRole('region', { name: 'Tool sendEmail' }).count()).toBe(1);
    } finally {
      await close();
      await page.stop();
      expect(await server.stop()).toBe(0);
    }
  });

  it('runs an own agent, and reads on one server a chat of another with the same Postgres', async () => {
    const [, own] = /^```ts title=intertie\.config\.ts\n(.*?)^```$/ms.exec(
      readFileSync(join(root, 'docs/first-app.md'), 'utf8'),
    )!;
    writeFileSync(join(project, 'intertie.config.ts'), own!);
    const database = await startPostgres(installedVersions.at(-1)!);
    const servers: StartedIntertie[] = [];
    try {
      const env = { ...registry.env, DATABASE_URL: database.url };
      servers.push(...(await Promise.all([serve(env), serve(env)])));
      const [first, second] = servers;
      expect(await chat(first!.url, 'shared', 'Polly')).toContain('You said: Polly');
      expect(await readThread(second!.url, 'shared')).toContain('You said: Polly');
    } finally {
      await Promise.all(servers.map(({ stop }) => stop()));
      await database.stop();
    }
  });
});

/** Starts `npm run page` of a project, and waits for the address that Vite prints. */
async function startPage(cwd: string, server: string): Promise<{ url: string; stop(): Promise<void> }> {
  const env = { ...registry.env, INTERTIE_URL: server };
  const args = ['run', 'page', '--', '--host', '127.0.0.1', '--port', '0'];
  const child = spawn('npm', args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  let output = '';
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    output += String(chunk);
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(output) ?? [];
    if (url === undefined) continue;
    child.stdout.resume();
    return {
      url,
      async stop() {
        process.kill(-child.pid!, 'SIGTERM');
        await closed;
      },
    };
  }
  throw new Error(`Vite did not start: ${output}`);
}
