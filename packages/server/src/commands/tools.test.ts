import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { commands } from './index.ts';
import { runProgram } from './program.ts';

const home = join(import.meta.dirname, '../..');
const bin = join(home, 'bin/intertie.mjs');
const fixture = join(home, '../mail/fixtures/03-delegate-action.sse');

type Ran = { code: number; out: string; err: string };

/** Runs the built command line in a process, with text on its standard input. */
function intertie(args: string[], input = ''): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [bin, ...args], { timeout: 30_000 }, (error, out, err) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, out, err }),
    );
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}

/** Runs the command line in this process, for tests that need no pipes. */
async function runInProcess(...args: string[]): Promise<Ran> {
  let [out, err] = ['', ''];
  const stdout = { write: (text: string) => (out += text) };
  const code = await runProgram(args, commands, { stdout, stderr: { write: (text) => (err += text) }, env: {} });
  return { code, out, err };
}

describe('commands in pipes', () => {
  beforeAll(() => {
    if (!existsSync(join(home, 'dist/main.js'))) throw new Error('The packages are not built: npm run build');
  });

  it('checks the output of convert', async () => {
    const converted = await intertie(['convert', '--to', 'ag-ui', fixture]);
    expect(converted.code).toBe(0);
    const checked = await intertie(['check', '--json'], converted.out);
    expect([checked.code, JSON.parse(checked.out)]).toEqual([
      0,
      expect.objectContaining({ ok: true, protocol: 'ag-ui' }),
    ]);
  });

  it('exits with 0 if the reader closes the pipe early', async () => {
    const line = `${JSON.stringify({ type: 'run-start', runId: 'r', threadId: 't', messageId: 'm' })}\n`;
    const child = spawn(process.execPath, [bin, 'convert', '--to', 'canonical'], { stdio: 'pipe' });
    let err = '';
    child.stderr.on('data', (data) => (err += String(data)));
    child.stdin.on('error', () => undefined);
    const closed = once(child, 'close');
    // More than a pipe holds, so that the command is still writing when the reader closes it.
    child.stdin.write(line.repeat(20_000));
    await once(child.stdout, 'data');
    child.stdout.destroy();
    child.stdin.end(line.repeat(20_000));
    expect([(await closed)[0], err]).toEqual([0, '']);
  });

  it('exits with 1 for violations, 2 for invalid arguments and 3 for an unreadable input', async () => {
    const codes = await Promise.all([
      intertie(['check'], '{"type":"RUN_STARTED","threadId":"t","runId":"r","protocolVersion":"1.0"}\n'),
      intertie(['check', '--as', 'agui-u']),
      intertie(['check', 'nowhere.sse']),
    ]);
    expect(codes.map(({ code }) => code)).toEqual([1, 2, 3]);
    expect(codes[2].err).toContain('The file nowhere.sse does not exist.');
  });
});

describe('help', () => {
  it.each(['convert', 'check', 'record', 'replay', 'chat', 'threads', 'completion'])(
    'shows examples for %s',
    async (name) => {
      const { code, out } = await runInProcess(name, '--help');
      expect([code, out]).toEqual([0, expect.stringMatching(/Examples:[^]*\$ intertie|Examples:[^]*\$ curl/)]);
    },
  );

  it.each([
    [['chek'], 'check'],
    [['check', '--promt', 'x'], '--prompt'],
    [['convert'], '--to'],
    [['replay'], 'tape'],
    [['check', '--timeout', 'soon', 'x'], 'above 0'],
    [['check', '--header', 'nothing', 'x'], 'authorization'],
    [['check', '--body', 'nowhere.json', 'http://127.0.0.1:1'], 'nowhere.json'],
    [['completion', 'tcsh'], 'bash, zsh, fish'],
  ])('rejects %j and suggests a correction', async (args, meant) => {
    const { code, err } = await runInProcess(...args);
    expect([code, err]).toEqual([2, expect.stringContaining(meant)]);
  });
});

describe('completion', () => {
  it.each(['bash', 'zsh', 'fish'])('completes every command in %s', async (shell) => {
    const { out, code } = await runInProcess('completion', shell);
    expect(code).toBe(0);
    for (const name of ['convert', 'check', 'threads']) expect(out).toContain(name);
    expect(out).toContain('ui-message-stream');
  });

  it('completes commands and options in a real bash', async (context) => {
    const { out: script } = await runInProcess('completion', 'bash');
    const ask = (line: string): Promise<string> =>
      new Promise((resolve) => {
        const list = line.split(' ');
        const input = `${script}\nCOMP_WORDS=(${list.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${list.length - 1}; _intertie; echo "\${COMPREPLY[@]}"`;
        const child = execFile('bash', ['--norc'], (error, stdout) => resolve(error ? 'no bash' : stdout.trim()));
        child.stdin?.end(input);
      });
    const first = await ask('intertie con');
    context.skip(first === 'no bash', 'bash is not installed');
    expect(first).toBe('convert');
    expect(await ask('intertie convert --to ag')).toBe('ag-ui');
    expect(await ask('intertie threads ex')).toContain('export');
  });
});
