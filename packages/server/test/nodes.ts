import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export type Node = { url: string; process: ChildProcess; kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> };

const program = fileURLToPath(new URL('node-process.mjs', import.meta.url));

/** A server in a process of its own. */
export async function startNode(database: string, pace: number): Promise<Node> {
  const child = spawn(process.execPath, [program, database, String(pace)], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  const [url] = (await Promise.race([
    once(lines, 'line'),
    once(child, 'exit').then(() => Promise.reject(new Error('The node ended before it listened.'))),
  ])) as [string];
  return {
    url,
    process: child,
    async kill(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill(signal);
      await gone;
    },
  };
}
