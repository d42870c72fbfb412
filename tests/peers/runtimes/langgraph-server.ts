import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { freePort } from '../free-port.ts';
import { readBlock } from './read-block.ts';

export type LangGraphServer = { url: string; stop(): Promise<void> };

/** Runs `langgraphjs dev` with the documented graph. `folder` has the packages. */
export async function startLangGraph(folder: string, env: NodeJS.ProcessEnv): Promise<LangGraphServer> {
  const cwd = join(folder, '.intertie/langgraph');
  mkdirSync(cwd, { recursive: true });
  writeFileSync(join(cwd, 'langgraph.json'), readBlock('langgraph', 'json', 'langgraph.json'));
  writeFileSync(join(cwd, 'graph.ts'), readBlock('langgraph', 'typescript', 'graph.ts'));
  const manifest = createRequire(join(folder, 'package.json')).resolve('@langchain/langgraph-cli/package.json');
  const port = await freePort();
  const args = [join(manifest, '../dist/cli/cli.mjs'), 'dev', '--no-browser', '--port', String(port)];
  // The command starts other processes, so all processes of its group are stopped.
  const child = spawn(process.execPath, args, {
    cwd,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env, LANGSMITH_TRACING: 'false', LANGGRAPH_CLI_NO_ANALYTICS: '1' },
  });
  const closed = once(child, 'close');
  let output = '';
  const read = (text: Buffer): void => void (output = (output + text.toString()).slice(-4000));
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  const url = `http://localhost:${port}`;
  while (child.exitCode === null) {
    const isUp = await fetch(`${url}/ok`).then(
      () => true,
      () => false,
    );
    if (isUp) {
      return {
        url,
        async stop() {
          process.kill(-child.pid!, 'SIGTERM');
          await closed;
        },
      };
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`The LangGraph server did not start: ${output}`);
}
