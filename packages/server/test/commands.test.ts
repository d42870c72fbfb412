import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startMAILDemo } from '@intertie/mail/demo';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { newPostgresUrl } from '../../postgres/test/databases.ts';
import { startFaultProxy } from '../../postgres/test/fault-proxy.ts';
import { skipTimeouts } from '../../postgres/test/skip-timeouts.ts';
import { commands } from '../src/commands/index.ts';
import { getDatabaseFolder } from '../src/commands/run-serve.ts';
import { runProgram } from '../src/commands/program.ts';
import { examine } from '../src/doctor/examine.ts';
import { agentKinds } from '../src/agent-kinds.ts';
import { findConfig, loadConfig } from '../src/config/load-config.ts';
import { startDemoServer } from './demo-server.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'intertie-commands-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ['', ''];
  const code = await runProgram(args, commands, {
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
    env: {},
  });
  return { code, out, err };
}

test('lists every command in the help', async () => {
  const { out } = await run('--help');
  for (const name of ['serve', 'init', 'doctor', 'migrate']) {
    expect(out).toContain(name);
    expect((await run(name, '--help')).code).toBe(0);
  }
});

describe('init', () => {
  const templates = agentKinds.flatMap(({ template }) => template?.name ?? []);
  test.each(templates)('creates a project with %s and overwrites nothing', async (template) => {
    const project = join(folder, template);
    const { code, out } = await run('init', project, '--with', template, '--json');
    expect(code).toBe(0);
    const { files } = JSON.parse(out) as { files: string[] };
    expect(files).toEqual(expect.arrayContaining(['intertie.config.ts', 'package.json', 'Dockerfile', 'compose.yaml']));
    for (const file of files) expect(existsSync(join(project, file))).toBe(true);
    expect(JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))).toMatchObject({
      dependencies: { intertie: expect.any(String) as unknown },
    });
    expect(await run('init', project)).toMatchObject({
      code: 1,
      err: expect.stringContaining('init overwrites nothing') as unknown,
    });
  });

  test('prints a next command that a shell accepts for a folder with spaces', async () => {
    const { out } = await run('init', join(folder, "Ada's chat"));
    expect(out).toContain(`cd '${join(folder, "Ada'\\''s chat")}' && npm install`);
  });

  test('names the folder and a fix if a file is in its place', async () => {
    const file = join(folder, 'notes');
    writeFileSync(file, '');
    const { code, err } = await run('init', join(file, 'chat'));
    expect(code).toBe(1);
    expect(err).toContain(`Cannot create ${join(file, 'chat')}: `);
    expect(err).toContain('Choose a folder that you can write to: intertie init my-chat');
  });
});

describe('loadConfig', () => {
  test('loads TypeScript, and loads it again after a change', async () => {
    const path = join(folder, 'intertie.config.ts');
    const source = "{ name: 'x', pauses: 'replay' as const, run: () => new ReadableStream() }";
    writeFileSync(path, `const port: number = 5001; export default { agents: { one: ${source} }, port };`);
    expect(findConfig(folder)).toBe(path);
    expect(await loadConfig(path)).toMatchObject({ port: 5001 });
    writeFileSync(path, `export default { agents: { two: ${source} } };`);
    expect(Object.keys((await loadConfig(path)).agents)).toEqual(['two']);
  });

  test('reads the .env next to the configuration, and keeps variables of the process', async () => {
    vi.stubEnv('INTERTIE_TEST_KEPT', 'from-process');
    vi.stubEnv('INTERTIE_TEST_ADDED', undefined);
    onTestFinished(() => void vi.unstubAllEnvs());
    const project = mkdtempSync(join(folder, 'env-'));
    writeFileSync(join(project, '.env'), 'INTERTIE_TEST_KEPT=from-file\nINTERTIE_TEST_ADDED=from-file\n');
    const source = "{ name: 'x', pauses: 'replay', run: () => new ReadableStream() }";
    const names = '[process.env.INTERTIE_TEST_KEPT]: source, [process.env.INTERTIE_TEST_ADDED]: source';
    const path = join(project, 'intertie.config.ts');
    writeFileSync(path, `const source = ${source}; export default { agents: { ${names} } };`);
    expect(Object.keys((await loadConfig(path)).agents)).toEqual(['from-process', 'from-file']);
  });

  test('rejects an invalid configuration with its file and field', async () => {
    const path = join(folder, 'wrong.config.ts');
    writeFileSync(path, 'export default { agents: { one: 1 } };');
    await expect(loadConfig(path)).rejects.toThrow(/wrong\.config\.ts: agents\.one is 1/);
    writeFileSync(path, 'export default {');
    await expect(loadConfig(path)).rejects.toMatchObject({ code: 'no-config' });
    expect(() => findConfig(folder, 'none.ts')).toThrow('none.ts does not exist');
  });
});

describe('doctor', () => {
  test('recognizes an Intertie server, a MAIL server, and servers of other kinds', async () => {
    const server = await startDemoServer();
    const mail = await startMAILDemo();
    const other = createServer((_, response) => void response.writeHead(204).end());
    await new Promise<void>((resolve) => void other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number };
    const found = async (url: string): Promise<string> => {
      const [finding] = await examine({ url, env: {} });
      return `${finding?.state}: ${finding?.found}`;
    };
    expect(await found(server.url)).toMatch(/^fine: Intertie .* with helper, swarm/);
    expect(await found(mail.url)).toMatch(/^fine: MAIL 1\.3.* with supervisor/);
    expect(await found(`http://127.0.0.1:${port}/`)).toBe('broken: unknown kind of server, status 204');
    other.close();
    expect(await found(`http://127.0.0.1:${port}/`)).toMatch(/^broken:/);
    expect(await found('nonsense')).toBe('broken: not a URL');
    await Promise.all([server.close(), mail.stop()]);
  });

  test('shows the next step for an unreachable database, without its password', async () => {
    const url = 'postgres://someone:secret@127.0.0.1:1/nothing';
    const findings = await examine({ env: { DATABASE_URL: url } });
    const database = findings.find(({ what }) => what === 'Database');
    expect(database).toMatchObject({ state: 'broken', next: expect.stringContaining('DATABASE_URL') as unknown });
    expect(JSON.stringify(findings)).not.toContain('secret');
    expect(findings.find(({ what }) => what === 'Node')).toMatchObject({ state: 'fine' });
  });
});

describe('DATABASE_URL', () => {
  test.each([
    ['', './.intertie'],
    ['./data', './data'],
    ['postgres://127.0.0.1/chat', undefined],
  ])('opens DATABASE_URL "%s" as an embedded database in %s', async (url, path) => {
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.stubEnv('DATABASE_URL', url);
    expect(getDatabaseFolder({ agents: {} })).toBe(path);
    if (path === undefined) return;
    const database = (await examine({ env: { DATABASE_URL: url } })).find(({ what }) => what === 'Database');
    expect(database).toMatchObject({ state: 'fine', found: expect.stringContaining(`${path}, embedded`) as unknown });
  });

  test(
    'fails to serve in bounded time if the server of DATABASE_URL does not answer',
    { timeout: 60_000 },
    async () => {
      const proxy = await startFaultProxy(await newPostgresUrl());
      onTestFinished(async () => {
        vi.unstubAllEnvs();
        await proxy.close();
      });
      proxy.silence();
      vi.stubEnv('DATABASE_URL', proxy.url);
      const path = join(folder, 'unreachable.config.ts');
      const source = "{ name: 'x', pauses: 'replay', run: () => new ReadableStream() }";
      writeFileSync(path, `export default { agents: { one: ${source} } };`);
      const { code, err } = await skipTimeouts(() => run('serve', '--port', '0', '--config', path));
      expect(code).toBe(1);
      expect(err).toMatch(/No Postgres server answers at 127\.0\.0\.1:\d+ .*Start it or correct the URL/);
    },
  );
});

test('prints the SQL of the migrations', async () => {
  const { code, out } = await run('migrate', '--print');
  expect(code).toBe(0);
  expect(out).toContain('create table');
  expect(out).not.toContain('row level security');
  const more = await run('migrate', '--print', '--with', 'row-security', 'full-text');
  expect(more.out.startsWith(out.trimEnd())).toBe(true);
  expect(more.out).toMatch(/row level security[^]*create index conversation_message_words/);
  expect(await run('migrate', '--print', '--with', 'magic')).toMatchObject({ code: 2 });
  expect(await run('migrate', '--with', 'full-text')).toMatchObject({
    code: 2,
    err: expect.stringContaining('intertie migrate --print --with full-text') as unknown,
  });
});
