import { spawn, type ChildProcess } from 'node:child_process';

import { freePort } from './free-port.ts';

export type PythonServer = { url: string; process: ChildProcess };

/** Runs a program with the ports as arguments, and waits until the first port accepts connections. */
export async function startPythonServer(python: string, program: string, ports = 1): Promise<PythonServer> {
  const given: number[] = [];
  while (given.length < ports) given.push(await freePort());
  return startProcess(python, [program, ...given.map(String)], given[0]!);
}

/** Runs the text of a program with its port in `PORT`, and waits until it accepts connections. */
export async function startPythonText(python: string, text: string, env: NodeJS.ProcessEnv): Promise<PythonServer> {
  const port = await freePort();
  return startProcess(python, ['-c', text], port, { ...process.env, ...env, PORT: String(port) });
}

async function startProcess(
  python: string,
  args: readonly string[],
  port: number,
  env?: NodeJS.ProcessEnv,
): Promise<PythonServer> {
  const child = spawn(python, args, { stdio: ['ignore', 'ignore', 'pipe'], env });
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
