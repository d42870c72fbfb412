import { expect, test } from 'vitest';
import { CommandFailure } from '../cli/command-failure.ts';
import type { Command } from './command.ts';
import { exitWith, runProgram } from './program.ts';

const greet: Command = (program, terminal) => {
  program
    .command('greet')
    .argument('<name>')
    .option('--fail')
    .action((name: string, options: { fail?: true }, command) => {
      if (options.fail) throw new CommandFailure({ code: 'no-mood', message: `No ${name}.`, fix: 'Ask tomorrow.' });
      terminal.out(terminal.json ? JSON.stringify({ name }) : terminal.style('bold', `Hello ${name}`));
      if (name === 'nobody') exitWith(command, 1);
    });
};

async function run(
  args: string[],
  { isTTY = false, env = {} }: { isTTY?: boolean; env?: { [name: string]: string } } = {},
): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ['', ''];
  const code = await runProgram(args, [greet], {
    stdout: { write: (text) => (out += text), isTTY },
    stderr: { write: (text) => (err += text) },
    env,
  });
  return { code, out, err };
}

test('returns exit code 0, or the code that the command sets', async () => {
  expect(await run(['greet', 'Ada'])).toEqual({ code: 0, out: 'Hello Ada\n', err: '' });
  expect(await run(['greet', 'nobody'])).toMatchObject({ code: 1 });
});

test('prints the message and the fix of a failure, or a JSON object with --json', async () => {
  expect(await run(['greet', 'Ada', '--fail'])).toEqual({ code: 1, out: '', err: 'No Ada.\nAsk tomorrow.\n' });
  const { code, out } = await run(['greet', 'Ada', '--fail', '--json']);
  expect(code).toBe(1);
  expect(JSON.parse(out)).toEqual({ error: { code: 'no-mood', message: 'No Ada.', fix: 'Ask tomorrow.' } });
});

test('returns 2 for invalid arguments and 0 for the help', async () => {
  expect(await run(['greet'])).toMatchObject({ code: 2, err: expect.stringContaining('missing required argument') });
  expect(await run(['graet', 'x'])).toMatchObject({ code: 2, err: expect.stringContaining('greet') });
  expect(await run(['--help'])).toMatchObject({ code: 0, out: expect.stringContaining('greet') });
});

test('uses colours in terminals only, and not with NO_COLOR', async () => {
  const escape = String.fromCodePoint(27);
  expect((await run(['greet', 'Ada'], { isTTY: true })).out).toContain(escape);
  expect((await run(['greet', 'Ada'], { isTTY: true, env: { NO_COLOR: '1' } })).out).not.toContain(escape);
  expect((await run(['greet', 'Ada'])).out).not.toContain(escape);
});
