import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInMemoryStore } from '@intertie/core';
import { expect, it, onTestFinished } from 'vitest';
import { chat } from '../src/cli/chat/chat.ts';
import { checkStream } from '../src/cli/check/check.ts';
import { convert } from '../src/cli/convert/convert.ts';
import { commands } from '../src/commands/index.ts';
import { runProgram } from '../src/commands/program.ts';
import { examine } from '../src/doctor/examine.ts';
import { agentKinds } from '../src/agent-kinds.ts';
import { protocols } from '../src/protocols.ts';
import { serve } from './serve-tool.ts';
import { testIO } from './tool-io.ts';
import { findEnvironmentAgents } from '../src/config/environment-agents.ts';
import { createIntertie } from '../src/create-intertie.ts';
import { startDemoAgents } from '../src/demo/start-demo-agents.ts';
import { toyKind } from './toy/toy-kind.ts';
import { toyProtocol } from './toy/toy-protocol.ts';

// One folder and one line in each list: everything below is derived from them.
const list = [...protocols, toyProtocol];
const known = { protocols: list, agentKinds: [...agentKinds, toyKind] };
const stream = '{"toy":"start"}\n{"toy":"text","text":"Hello"}\n{"toy":"end"}\n';
const serveToys = () => serve(async () => new Response(stream, { headers: { 'x-toy': 'box' } }));

async function runCommand(...args: string[]): Promise<string> {
  let out = '';
  const write = (text: string): void => void (out += text);
  await runProgram(args, commands, { stdout: { write }, stderr: { write }, env: {} }, known);
  return out;
}

it('detects and converts a protocol that is only in the list', async () => {
  const io = testIO({ input: stream });
  expect(await convert({ to: 'ag-ui', format: 'ndjson', protocols: list }, io)).toBe(0);
  expect(io.stdout.text).toContain('"delta":"Hello"');
  const back = testIO({ input: io.stdout.text });
  expect(await convert({ to: 'toyland', protocols: list }, back)).toBe(0);
  expect(back.stdout.text).toBe(stream);
});

it('checks a protocol that is only in the list', async () => {
  const io = testIO({ input: stream.replace('{"toy":"end"}\n', '') });
  expect(await checkStream({ json: true, protocols: list }, io)).toBe(1);
  expect(JSON.parse(io.stdout.text)).toMatchObject({ protocol: 'toy', rules: [{ rule: 'end' }] });
});

it('chats with a server of a protocol that is only in the list', async () => {
  const url = await serveToys();
  const io = testIO();
  const terminal = { ask: async () => undefined, onInterrupt: () => () => undefined, close: () => undefined };
  expect(await chat({ target: `${url}/toy`, message: 'Hi', protocols: list }, io, terminal)).toBe(0);
  expect(io.stdout.text).toContain('Hello');
});

it('recognizes a server of a protocol that is only in the list', async () => {
  const url = await serveToys();
  expect(await examine({ url, env: {}, protocols: list })).toMatchObject([{ state: 'fine', found: 'a box of toys' }]);
});

it('completes and documents a protocol that is only in the list', async () => {
  const script = await runCommand('completion', 'bash');
  for (const flag of ['--to', '--from', '--as']) {
    expect(script).toMatch(new RegExp(String.raw`${flag}\) COMPREPLY=\(\$\(compgen -W "[^"]*\btoy\b`));
  }
  expect(script).toContain('--toy-size) COMPREPLY=($(compgen -W "small large"');
  for (const command of ['convert', 'check', 'chat']) expect(await runCommand(command, '--help')).toContain('toy');
  expect(await runCommand('chat', '--help')).toContain('A box of toys:');
});

it('creates agents for the environment variables of a kind that is only in the list', async () => {
  expect(await findEnvironmentAgents(known.agentKinds, { TOY_URL: 'http://toys' })).toMatchObject({
    toys: { kind: 'toy', dialect: 'toy' },
  });
  expect(await findEnvironmentAgents(known.agentKinds, {})).toEqual({});
  expect(await runCommand('serve', '--help')).toMatch(/TOY_URL, TOY_COLOR$/m);
});

it('checks the environment variables of a kind that is only in the list', async () => {
  const findings = await examine({ env: { TOY_URL: 'http://toys' }, ...known });
  expect(findings).toContainEqual({ what: 'TOY_URL', state: 'fine', found: 'set' });
  expect(findings.at(-1)).toEqual({ what: 'Toy', state: 'broken', found: 'an empty box', next: 'Fill it.' });
  expect((await examine({ env: {}, ...known })).at(-1)?.next).toContain('TOY_URL');
});

it('creates a project with a kind that is only in the list', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'intertie-toy-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  await runCommand('init', folder, '--with', 'toy');
  expect(readFileSync(join(folder, 'intertie.config.ts'), 'utf8')).toContain('toy-box');
  expect(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))).toMatchObject({
    dependencies: { 'toy-box': expect.any(String) as unknown },
  });
  expect(readFileSync(join(folder, 'compose.yaml'), 'utf8')).toContain('TOY_URL: ${TOY_URL:-}');
  expect(await runCommand('completion', 'fish')).toMatch(/-l with -x -a '[^']*\btoy\b/);
});

it('serves a protocol and an agent kind that are only in the lists', async () => {
  const demos = await startDemoAgents({ kinds: [toyKind] });
  const { agents } = demos;
  const server = await createIntertie({ agents, database: createInMemoryStore() }, known);
  onTestFinished(async () => void (await Promise.all([server.close(), demos.stop()])));
  const get = async (path: string): Promise<unknown> =>
    (await server.fetch(new Request(`http://localhost${path}`))).json();
  const { routes } = toyProtocol.endpoints!;
  expect(await get('/api/protocols')).toMatchObject({
    protocols: expect.arrayContaining([
      {
        name: 'toy',
        aliases: ['toyland'],
        label: 'Toy',
        title: 'the stream of a toy',
        items: toyProtocol.items,
        messageFormat: 'toy',
        canRead: true,
        canWrite: true,
        endpoints: routes.map(({ method, path, summary }) => ({ method, path, summary })),
      },
    ]) as unknown,
    agentKinds: expect.arrayContaining([{ name: 'toy', title: 'Toy', description: 'A box of toys' }]) as unknown,
  });
  expect(await get('/api/agents')).toMatchObject({ agents: [{ name: 'box', kind: 'toy', isDemo: true }] });
  expect(await get('/api/openapi.json')).toHaveProperty(['paths', '/api/agents/{agent}/toy', 'post']);
  const body = JSON.stringify({ toy: 'Hi', thread: 'shelf' });
  const answer = await server.fetch(new Request('http://localhost/api/agents/box/toy', { method: 'POST', body }));
  expect(await answer.text()).toContain('data: {"toy":"text","text":"Hello"}');
  expect(await get('/api/threads/shelf/messages?format=toy')).toMatchObject({
    messages: [{ toy: 'user' }, { toy: 'assistant' }],
  });
});
