import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it, onTestFinished, vi } from 'vitest';

import { FolderLockedError, lockFolder, type LockHolder } from './pglite-folder-lock.ts';

function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'intertie-lock-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'database.lock');
}

/** Starts an idle process. */
async function newProcess(): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['-e', 'process.stdout.write("here"); setInterval(() => {}, 1000)']);
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

/** Writes the lock file of another process. */
function writeLock(file: string, holder: Partial<LockHolder>): void {
  const whole: LockHolder = { pid: 1, host: hostname(), birth: null, since: '2024-03-01T10:00:00.000Z', ...holder };
  writeFileSync(file, JSON.stringify(whole));
}

it('locks the folder until it is released', () => {
  const file = newFile();
  const release = lockFolder(file);
  expect(() => lockFolder(file)).toThrow(/this process, in another thread/);
  release();
  release();
  lockFolder(file)();
  expect(readdirSync(join(file, '..'))).toEqual([]);
});

it('throws an error that names the process that holds the folder', async () => {
  const file = newFile();
  const { pid } = await newProcess();
  writeLock(file, { pid: pid! });
  const before = readFileSync(file, 'utf8');
  expect(() => lockFolder(file)).toThrow(FolderLockedError);
  expect(() => lockFolder(file)).toThrow(
    new RegExp(`in use by process ${pid} on ${hostname()}, since 2024.*stop that process, or .*DATABASE_URL`),
  );
  expect(readFileSync(file, 'utf8')).toBe(before);
});

it('takes over the lock of a dead process', async () => {
  const file = newFile();
  const child = await newProcess();
  writeLock(file, { pid: child.pid! });
  child.kill('SIGKILL');
  await once(child, 'exit');
  const release = lockFolder(file);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ pid: process.pid });
  release();
  expect(existsSync(file)).toBe(false);
});

it('takes over the lock of a killed process that its parent has not reaped', async (context) => {
  context.skip(process.platform !== 'linux', 'only Linux provides the state of a process');
  const file = newFile();
  // The parent sleeps after it has killed its child, so the child stays a zombie.
  const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; kill -9 $!; exec sleep 60']);
  onTestFinished(() => void parent.kill('SIGKILL'));
  const pid = Number(String((await once(parent.stdout, 'data'))[0]));
  await vi.waitFor(() => expect(readFileSync(`/proc/${pid}/stat`, 'utf8')).toContain(') Z '));
  writeLock(file, { pid });
  lockFolder(file)();
  expect(existsSync(file)).toBe(false);
});

it('takes over the lock of an earlier process with the same pid', async (context) => {
  context.skip(process.platform !== 'linux', 'only Linux provides the start time of a process');
  const file = newFile();
  const { pid } = await newProcess();
  writeLock(file, { pid: pid!, birth: 'another boot 12345' });
  lockFolder(file)();
  expect(existsSync(file)).toBe(false);
});

it('takes over the lock of another machine only after it has expired', () => {
  const file = newFile();
  writeLock(file, { host: 'elsewhere' });
  expect(() => lockFolder(file)).toThrow(/on elsewhere/);
  const longAgo = new Date(Date.now() - 10 * 60_000);
  utimesSync(file, longAgo, longAgo);
  lockFolder(file)();
  expect(existsSync(file)).toBe(false);
});

it.each(['', '{"pid":', 'null', '{"pid":0,"host":"a"}', '{"host":"a"}'])(
  'rejects a damaged lock file that contains %j and names the file',
  (content) => {
    const file = newFile();
    writeFileSync(file, content);
    expect(() => lockFolder(file)).toThrow(expect.objectContaining({ name: 'FolderLockUnreadableError', file }));
    expect(() => lockFolder(file)).toThrow(`delete ${file}`);
    expect(readFileSync(file, 'utf8')).toBe(content);
    rmSync(file);
    lockFolder(file)();
  },
);

it('gives the lock of a dead process to one of several processes', { timeout: 20_000 }, async () => {
  const file = newFile();
  writeLock(file, { pid: 2 ** 22 + 1 });
  const built = new URL('../dist/pglite-folder-lock.js', import.meta.url).href;
  const program = `import { lockFolder } from ${JSON.stringify(built)};
    process.stdin.once('data', () => {
      try {
        lockFolder(${JSON.stringify(file)});
        process.stdout.write('held');
      } catch (error) {
        process.stdout.write(error.name);
      }
    });
    process.stdin.resume();
    process.stdout.write('ready');`;
  const children = Array.from({ length: 6 }, () =>
    spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['pipe', 'pipe', 'inherit'] }),
  );
  onTestFinished(() => void children.map((child) => child.kill('SIGKILL')));
  const readOutput = async (child: (typeof children)[number]): Promise<string> =>
    String(await once(child.stdout, 'data'));
  await Promise.all(children.map(readOutput));
  const outputs = Promise.all(children.map(readOutput));
  for (const child of children) child.stdin.write('go');
  expect((await outputs).toSorted()).toEqual([...Array<string>(5).fill('FolderLockedError'), 'held'].toSorted());
});
