import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';

/** Who holds a folder. `birth` tells a process from a later one with the same id. */
export type Holder = { pid: number; host: string; birth: string | null; since: string };

export class FolderLockedError extends Error {
  override readonly name = 'FolderLockedError';
  readonly holder: Holder;

  constructor(file: string, holder: Holder) {
    const { pid, host, since } = holder;
    const who = pid === process.pid && host === hostname() ? 'this process, in another thread' : `process ${pid}`;
    super(
      `The database beside ${file} is in use by ${who} on ${host}, since ${since}. ` +
        'An embedded database is of one process: stop that one, or give both a Postgres server (DATABASE_URL).',
    );
    this.holder = holder;
  }
}

/** The lock exists, and its content does not name the process that holds it. */
export class FolderLockUnreadableError extends Error {
  override readonly name = 'FolderLockUnreadableError';
  readonly file: string;

  constructor(file: string) {
    super(
      `The lock file ${file} is damaged, so another process may be using the database next to it. ` +
        `Stop every process that uses this folder, then delete ${file} and start again.`,
    );
    this.file = file;
  }
}

const beatMs = 10_000;
/** A holder on another machine cannot be asked whether it lives, only whether it still writes. */
const silentMs = 6 * beatMs;

/**
 * Makes this process the only one that opens what the file stands for. PGlite itself lets two processes open a folder, and
 * then one loses what the other has acknowledged. Throws a `FolderLockedError` if the holder lives, and a
 * `FolderLockUnreadableError` if the file does not name one. The lock of a dead process is taken over. Returns a function
 * that releases it.
 */
export function lockFolder(file: string): () => void {
  const mine: Holder = {
    pid: process.pid,
    host: hostname(),
    birth: birthOf(process.pid),
    since: new Date().toISOString(),
  };
  const text = JSON.stringify(mine);
  // Written whole and then given its name, so that nobody ever reads half of it.
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, text);
  try {
    while (!claim(draft, file)) removeDead(file);
  } finally {
    rmSync(draft, { force: true });
  }
  const beat = setInterval(() => touch(file), beatMs).unref();
  const release = (): void => {
    clearInterval(beat);
    process.off('exit', release);
    if (read(file) === text) rmSync(file, { force: true });
  };
  process.on('exit', release);
  return release;
}

function claim(draft: string, file: string): boolean {
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function removeDead(file: string): void {
  const text = read(file);
  if (text === undefined) return;
  const holder = parse(text);
  if (!holder) throw new FolderLockUnreadableError(file);
  if (lives(holder, file)) throw new FolderLockedError(file, holder);
  // Of several that have found it dead, one gets it; who got the lock of somebody quicker gives it back.
  const removed = `${file}.${randomUUID()}`;
  try {
    renameSync(file, removed);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if (read(removed) !== text) claim(removed, file);
  rmSync(removed, { force: true });
}

function lives({ pid, host, birth }: Holder, file: string): boolean {
  if (host !== hostname()) return Date.now() - statSync(file).mtimeMs < silentMs;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Not ours to signal, but there.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const now = birthOf(pid);
  return birth === null || now === null || now === birth;
}

/** The boot and the moment in it when a process began. Null where the system does not say. */
function birthOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in the second field may hold anything, so the fields are counted from its end.
    const ticks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${ticks}`;
  } catch {
    return null;
  }
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function parse(text: string): Holder | undefined {
  try {
    const holder = JSON.parse(text) as Partial<Holder> | null;
    const isHolder = Number.isInteger(holder?.pid) && holder!.pid! > 0 && typeof holder!.host === 'string';
    return isHolder ? (holder as Holder) : undefined;
  } catch {
    return undefined;
  }
}

function touch(file: string): void {
  const now = new Date();
  try {
    utimesSync(file, now, now);
  } catch {
    // Somebody has deleted it; the next opener will have to find out by itself.
  }
}
