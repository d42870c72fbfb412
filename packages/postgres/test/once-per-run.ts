import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Process that runs all tests; test files run in its children. */
export const runner: number = process.ppid;

/** Folder that all test files of this run share. `embedded-server.mjs` deletes it at the end. */
export const runFolder: string = join(tmpdir(), `intertie-postgres-${runner}`);

/** Creates a text once for all test files and returns it to each caller. */
export async function onceIn(folder: string, name: string, make: () => Promise<string>): Promise<string> {
  mkdirSync(folder, { recursive: true });
  const result = join(folder, name);
  if (existsSync(result)) return readFileSync(result, 'utf8');
  try {
    mkdirSync(`${result}.lock`);
  } catch {
    return waitFor(result, 60_000);
  }
  const text = await make();
  writeFileSync(`${result}.draft`, text);
  renameSync(`${result}.draft`, result);
  return text;
}

export async function waitFor(file: string, ms: number): Promise<string> {
  for (const end = Date.now() + ms; Date.now() < end; await sleep(20)) {
    if (existsSync(file)) return readFileSync(file, 'utf8');
  }
  throw new Error(`${file} was not created within ${ms} ms.`);
}
