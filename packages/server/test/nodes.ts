import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Server in a child process. */
export type Node = { url: string; process: ChildProcess; kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> };

const program = fileURLToPath(new URL('node-process.mjs', import.meta.url));

/** Starts a server with the demo agents in a child process. */
export async function startNode(database: string, pace: number): Promise<Node> {
  const node = await spawnNode(program, [database, String(pace)]);
  if (!node) throw new Error('The node exited before it listened.');
  return node;
}

/** Starts a program that prints the URL of its server. Undefined if it exits before. */
export async function spawnNode(
  path: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Node | undefined> {
  const child = spawn(process.execPath, [path, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  const lines = createInterface({ input: child.stdout });
  const url = await Promise.race([
    once(lines, 'line').then(([line]) => String(line)),
    once(child, 'exit').then(() => undefined),
  ]);
  if (url === undefined) return undefined;
  return {
    url,
    process: child,
    async kill(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill(signal);
      await exited;
    },
  };
}
