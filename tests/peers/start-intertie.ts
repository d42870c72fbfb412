import { spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export type StartedIntertie = {
  url: string;
  agents: string[];
  /** Stops the server, and returns its exit code. */
  stop(): Promise<number | null>;
};

const limit = 240_000;

/**
 * Starts the server, and waits until it prints its address as JSON. A `detached` program is stopped with all processes that it
 * started.
 */
export async function startIntertie(
  program: string,
  args: readonly string[],
  options: SpawnOptions & { cwd: string },
): Promise<StartedIntertie> {
  const child = spawn(program, [...args, '--json'], { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  // The output of a detached program closes when the last process of its group ends.
  const closed = once(child, 'close');
  const kill = (): unknown => (options.detached ? process.kill(-child.pid!, 'SIGTERM') : child.kill('SIGTERM'));
  const timeout = setTimeout(kill, limit);
  const [line] = (await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    closed.then(() =>
      Promise.reject(new Error(`The server ended or took ${limit} ms to listen: ${stderr.slice(-4000)}`)),
    ),
  ]).finally(() => clearTimeout(timeout))) as [string];
  const { url, agents = [] } = JSON.parse(line) as { url?: string; agents?: string[] };
  if (url === undefined) throw new Error(`The server did not start: ${line}`);
  return {
    url,
    agents,
    async stop() {
      kill();
      const [code] = (await closed) as [number | null];
      return code;
    },
  };
}
