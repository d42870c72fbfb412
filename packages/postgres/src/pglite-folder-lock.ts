import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';

/** Process that holds the lock of a folder. `birth` distinguishes it from a later process with the same pid. */
export type LockHolder = { pid: number; host: string; birth: string | null; since: string };

export class FolderLockedError extends Error {
  override readonly name = 'FolderLockedError';
  readonly holder: LockHolder;

  constructor(file: string, holder: LockHolder) {
    const { pid, host, since } = holder;
    const name = pid === process.pid && host === hostname() ? 'this process, in another thread' : `process ${pid}`;
    super(
      `The database next to ${file} is in use by ${name} on ${host}, since ${since}. ` +
        'An embedded database belongs to one process: stop that process, or use a Postgres server (DATABASE_URL) for both.',
    );
    this.holder = holder;
  }
}

/** The lock file exists but does not name a process. */
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

const heartbeatMs = 10_000;
/** A process on another machine cannot be checked, so its lock expires when the file is no longer touched. */
const expiryMs = 6 * heartbeatMs;

/**
 * Locks a folder for this process and returns a function that releases the lock. PGlite itself lets two processes open a
 * folder, and one of them then loses acknowledged data. Throws a `FolderLockedError` if the holder is alive, and a
 * `FolderLockUnreadableError` if the file names no holder. Takes over the lock of a dead process.
 */
export function lockFolder(file: string): () => void {
  const mine: LockHolder = {
    pid: process.pid,
    host: hostname(),
    birth: readProcess(process.pid)?.birth ?? null,
    since: new Date().toISOString(),
  };
  const text = JSON.stringify(mine);
  // Written completely, then linked to its name, so that a partial file is never read.
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, text);
  try {
    while (!claim(draft, file)) removeDead(file);
  } finally {
    rmSync(draft, { force: true });
  }
  const heartbeat = setInterval(() => touch(file), heartbeatMs).unref();
  const release = (): void => {
    clearInterval(heartbeat);
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
  if (isAlive(holder, file)) throw new FolderLockedError(file, holder);
  // Renaming succeeds for one process only. If it got the new lock of a faster process, it restores that lock.
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

function isAlive({ pid, host, birth }: LockHolder, file: string): boolean {
  if (host !== hostname()) return Date.now() - statSync(file).mtimeMs < expiryMs;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process exists but belongs to another user.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const found = readProcess(pid);
  if (!found) return true;
  // A zombie has ended and closed its files; only its parent has not collected its exit code.
  return found.state !== 'Z' && (birth === null || found.birth === birth);
}

/** Reads the state of a process, and its boot id and start time. Undefined if the system does not provide them. */
function readProcess(pid: number): { state: string | undefined; birth: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The process name in the second field may contain spaces, so the fields are counted from its end.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return { state: fields[0], birth: `${bootId} ${fields[19]}` };
  } catch {
    return undefined;
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

function parse(text: string): LockHolder | undefined {
  try {
    const holder = JSON.parse(text) as Partial<LockHolder> | null;
    const isHolder = Number.isInteger(holder?.pid) && holder!.pid! > 0 && typeof holder!.host === 'string';
    return isHolder ? (holder as LockHolder) : undefined;
  } catch {
    return undefined;
  }
}

function touch(file: string): void {
  const now = new Date();
  try {
    utimesSync(file, now, now);
  } catch {
    // The file was deleted, so the lock is lost. The next process that opens the folder is not stopped.
  }
}
