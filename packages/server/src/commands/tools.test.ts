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

/** The real process, with these bytes on its standard input. */
function intertie(args: string[], input = ''): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [bin, ...args], { timeout: 30_000 }, (error, out, err) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, out, err }),
    );
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}

/** The program in this process, for what needs no pipes. */
async function told(...args: string[]): Promise<Ran> {
  let [out, err] = ['', ''];
  const stdout = { write: (text: string) => (out += text) };
  const code = await runProgram(args, commands, { stdout, stderr: { write: (text) => (err += text) }, env: {} });
  return { code, out, err };
}

describe('in pipes', () => {
  beforeAll(() => {
    if (!existsSync(join(home, 'dist/main.js'))) throw new Error('The packages are not built: npm run build');
  });

  it('one command reads what the other writes', async () => {
    const converted = await intertie(['convert', '--to', 'ag-ui', fixture]);
    expect(converted.code).toBe(0);
    const checked = await intertie(['check', '--json'], converted.out);
    expect([checked.code, JSON.parse(checked.out)]).toEqual([
      0,
      expect.objectContaining({ ok: true, dialect: 'ag-ui' }),
    ]);
  });

  it('a reader that leaves early is no error', async () => {
    const line = `${JSON.stringify({ type: 'run-start', runId: 'r', threadId: 't', messageId: 'm' })}\n`;
    const child = spawn(process.execPath, [bin, 'convert', '--to', 'canonical'], { stdio: 'pipe' });
    let err = '';
    child.stderr.on('data', (data) => (err += String(data)));
    child.stdin.on('error', () => undefined);
    const closed = once(child, 'close');
    // More than any pipe holds, so that it is still writing when nobody reads.
    child.stdin.write(line.repeat(20_000));
    await once(child.stdout, 'data');
    child.stdout.destroy();
    child.stdin.end(line.repeat(20_000));
    expect([(await closed)[0], err]).toEqual([0, '']);
  });

  it('what is wrong has its exit code: 1, 2, 3', async () => {
    const codes = await Promise.all([
      intertie(['check'], '{"type":"RUN_STARTED","threadId":"t","runId":"r","protocolVersion":"1.0"}\n'),
      intertie(['check', '--as', 'agui-u']),
      intertie(['check', 'nowhere.sse']),
    ]);
    expect(codes.map(({ code }) => code)).toEqual([1, 2, 3]);
    expect(codes[2].err).toContain('There is no file nowhere.sse.');
  });
});

describe('the help', () => {
  it.each(['convert', 'check', 'record', 'replay', 'chat', 'threads', 'completion'])(
    'of %s has examples',
    async (name) => {
      const { code, out } = await told(name, '--help');
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
  ])('%j is answered with what was meant', async (args, meant) => {
    const { code, err } = await told(...args);
    expect([code, err]).toEqual([2, expect.stringContaining(meant)]);
  });
});

describe('completion', () => {
  it.each(['bash', 'zsh', 'fish'])('of %s knows every command', async (shell) => {
    const { out, code } = await told('completion', shell);
    expect(code).toBe(0);
    for (const name of ['convert', 'check', 'threads']) expect(out).toContain(name);
    expect(out).toContain('ui-message-stream');
  });

  it('completes in a real bash', async (context) => {
    const { out: script } = await told('completion', 'bash');
    const ask = (words: string): Promise<string> =>
      new Promise((resolve) => {
        const list = words.split(' ');
        const line = `${script}\nCOMP_WORDS=(${list.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${list.length - 1}; _intertie; echo "\${COMPREPLY[@]}"`;
        const child = execFile('bash', ['--norc'], (error, stdout) => resolve(error ? 'no bash' : stdout.trim()));
        child.stdin?.end(line);
      });
    const first = await ask('intertie con');
    context.skip(first === 'no bash', 'there is no bash');
    expect(first).toBe('convert');
    expect(await ask('intertie convert --to ag')).toBe('ag-ui');
    expect(await ask('intertie threads ex')).toContain('export');
  });
});
