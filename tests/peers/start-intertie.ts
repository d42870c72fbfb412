import { spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export type StartedIntertie = {
  url: string;
  agents: string[];
  /** Stops the server, and returns its exit code. */
  stop(): Promise<number | null>;
};

/** Starts the server, and waits until it prints its address as JSON. */
export async function startIntertie(
  program: string,
  args: readonly string[],
  options: SpawnOptions & { cwd: string },
): Promise<StartedIntertie> {
  const child = spawn(program, [...args, '--json'], { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const exit = once(child, 'exit');
  const [line] = (await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    exit.then(() => Promise.reject(new Error(`The server exited before it listened: ${stderr}`))),
  ])) as [string];
  const { url, agents = [] } = JSON.parse(line) as { url?: string; agents?: string[] };
  if (url === undefined) throw new Error(`The server did not start: ${line}`);
  return {
    url,
    agents,
    async stop() {
      child.kill('SIGTERM');
      const [code] = (await exit) as [number | null];
      return code;
    },
  };
}
