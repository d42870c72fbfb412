import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it, onTestFinished } from 'vitest';

import { FolderLockedError, lockFolder, type Holder } from './pglite-folder-lock.ts';

function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'intertie-lock-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'database.lock');
}

/** A process that does nothing but live. */
async function newProcess(): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['-e', 'process.stdout.write("here"); setInterval(() => {}, 1000)']);
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

/** Leaves the lock of another process. */
function leave(file: string, holder: Partial<Holder>): void {
  const whole: Holder = { pid: 1, host: hostname(), birth: null, since: '2024-03-01T10:00:00.000Z', ...holder };
  writeFileSync(file, JSON.stringify(whole));
}

it('is held by one, and free again when that one releases it', () => {
  const file = newFile();
  const release = lockFolder(file);
  expect(() => lockFolder(file)).toThrow(/this process, in another thread/);
  release();
  release();
  lockFolder(file)();
  expect(readdirSync(join(file, '..'))).toEqual([]);
});

it('second PGlite opener fails fast, and says who holds the folder', async () => {
  const file = newFile();
  const { pid } = await newProcess();
  leave(file, { pid: pid! });
  const before = readFileSync(file, 'utf8');
  expect(() => lockFolder(file)).toThrow(FolderLockedError);
  expect(() => lockFolder(file)).toThrow(
    new RegExp(`in use by process ${pid} on ${hostname()}, since 2024.*stop that one, or .*DATABASE_URL`),
  );
  expect(readFileSync(file, 'utf8')).toBe(before);
});

it('dead holder’s lock is taken over', async () => {
  const file = newFile();
  const child = await newProcess();
  leave(file, { pid: child.pid! });
  child.kill('SIGKILL');
  await once(child, 'exit');
  const release = lockFolder(file);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ pid: process.pid });
  release();
  expect(existsSync(file)).toBe(false);
});

it('takes a later process with the same id for another', async (context) => {
  context.skip(process.platform !== 'linux', 'only Linux says when a process began');
  const file = newFile();
  const { pid } = await newProcess();
  leave(file, { pid: pid!, birth: 'another boot 12345' });
  lockFolder(file)();
  expect(existsSync(file)).toBe(false);
});

it('takes the lock of another machine only after a long silence', () => {
  const file = newFile();
  leave(file, { host: 'elsewhere' });
  expect(() => lockFolder(file)).toThrow(/on elsewhere/);
  const longAgo = new Date(Date.now() - 10 * 60_000);
  utimesSync(file, longAgo, longAgo);
  lockFolder(file)();
  expect(existsSync(file)).toBe(false);
});

it.each(['', '{"pid":', 'null', '{"pid":0,"host":"a"}', '{"host":"a"}'])(
  'refuses a damaged lock file that holds %j, and names the file to delete',
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

it('gives a dead holder’s lock to one of many', { timeout: 20_000 }, async () => {
  const file = newFile();
  leave(file, { pid: 2 ** 22 + 1 });
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
  const hear = async (child: (typeof children)[number]): Promise<string> => String(await once(child.stdout, 'data'));
  await Promise.all(children.map(hear));
  const said = Promise.all(children.map(hear));
  for (const child of children) child.stdin.write('go');
  expect((await said).toSorted()).toEqual([...Array<string>(5).fill('FolderLockedError'), 'held'].toSorted());
});
