import { expect, it } from 'vitest';
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
import { toyProtocol } from './toy-protocol/toy-protocol.ts';

// One folder and one line: everything below is derived from this list.
const list = [...protocols, toyProtocol];
const stream = '{"toy":"start"}\n{"toy":"text","text":"Hello"}\n{"toy":"end"}\n';
const serveToys = () => serve(async () => new Response(stream, { headers: { 'x-toy': 'box' } }));

async function runCommand(...args: string[]): Promise<string> {
  let out = '';
  const write = (text: string): void => void (out += text);
  await runProgram(args, commands, { stdout: { write }, stderr: { write }, env: {} }, { protocols: list, agentKinds });
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
});
