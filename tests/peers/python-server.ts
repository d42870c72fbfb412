import { spawn, type ChildProcess } from 'node:child_process';

import { freePort } from './free-port.ts';

export type PythonServer = { url: string; process: ChildProcess };

/** Runs a program with the ports as arguments, and waits until the first port accepts connections. */
export async function startPythonServer(python: string, program: string, ports = 1): Promise<PythonServer> {
  const given: number[] = [];
  while (given.length < ports) given.push(await freePort());
  const child = spawn(python, [program, ...given.map(String)], { stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr?.on('data', (text: Buffer) => (stderr = (stderr + text.toString()).slice(-4000)));
  const url = `http://127.0.0.1:${given[0]}`;
  while (child.exitCode === null) {
    const isUp = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return { url, process: child };
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${program} did not start: ${stderr}`);
}
