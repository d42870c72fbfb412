import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { root } from '../../../scripts/workspace.mjs';
import { freePort } from '../free-port.ts';

/** Returns the first block of a language in a page of `docs/runtimes`. */
export function readBlock(page: string, language: string): string {
  const text = readFileSync(join(root, 'docs/runtimes', `${page}.md`), 'utf8');
  const block = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(text)?.[1];
  if (block === undefined) throw new Error(`docs/runtimes/${page}.md has no block of ${language}.`);
  return block;
}

export type PythonAgent = { url: string; process: ChildProcess };

/** Starts a program that listens on `PORT`, and waits until it does. */
export async function startPythonAgent(python: string, program: string, env: NodeJS.ProcessEnv): Promise<PythonAgent> {
  const port = await freePort();
  const child = spawn(python, ['-c', program], {
    env: { ...process.env, ...env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr?.on('data', (text: Buffer) => (stderr = (stderr + text.toString()).slice(-4000)));
  const url = `http://127.0.0.1:${port}`;
  while (child.exitCode === null) {
    const isUp = await fetch(url).then(
      () => true,
      () => false,
    );
    if (isUp) return { url, process: child };
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`The program did not start: ${stderr}`);
}
