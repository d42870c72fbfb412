import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/** The example as `npm start` runs it; `npm test` has built it. */
function replay(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const main = join(root, 'examples/terminal-replay/dist/main.js');
  return spawnSync(process.execPath, [main, ...args], { encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } });
}

describe('npm start', () => {
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
    [['--help'], 0, /usage: npm start/],
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
