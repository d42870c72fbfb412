import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';

import { cache, libraries, root } from '../../scripts/workspace.mjs';
import { freePort } from './free-port.ts';

const run = promisify(execFile);

export type Registry = {
  /** Environment in which npm uses the registry and a cache of its own. */
  env: NodeJS.ProcessEnv;
  stop(): Promise<void>;
};

/**
 * Starts verdaccio on loopback and publishes our packages there. It gets other packages from the registry that npm uses on this
 * machine, and keeps them in the cache of the tests.
 */
export async function startRegistry(folder: string): Promise<Registry> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const { stdout: upstream } = await run('npm', ['config', 'get', 'registry'], { cwd: folder });
  const storage = join(folder, 'storage');
  const shared = join(cache, 'verdaccio');
  for (const path of [storage, shared]) mkdirSync(path, { recursive: true });
  const ours = { access: '$all', publish: '$all' };
  const config = {
    storage,
    uplinks: { upstream: { url: upstream.trim(), timeout: '60s', maxage: '1d' } },
    packages: {
      '@intertie/*': ours,
      intertie: ours,
      '**': { access: '$all', proxy: 'upstream', storage: relative(storage, shared) },
    },
    auth: { htpasswd: { file: join(folder, 'htpasswd') } },
    max_body_size: '100mb',
    web: { enable: false },
    log: { type: 'stdout', level: 'warn' },
  };
  const configFile = join(folder, 'verdaccio.json');
  writeFileSync(configFile, JSON.stringify(config));
  const settings = join(folder, 'npmrc');
  // npm publishes only with a token, and the registry accepts any.
  writeFileSync(settings, `registry=${url}\n//127.0.0.1:${port}/:_authToken=any\naudit=false\nfund=false\n`);
  const program = join(import.meta.dirname, 'node_modules/verdaccio/bin/verdaccio');
  const args = [program, '--config', configFile, '--listen', `127.0.0.1:${port}`];
  const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [server.stdout, server.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const stop = async (): Promise<void> => {
    if (server.exitCode !== null || !server.kill()) return;
    await once(server, 'exit');
  };
  // Settings of the npm that runs the tests would take precedence over the file.
  const inherited = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
  const env = {
    ...Object.fromEntries(inherited),
    npm_config_userconfig: settings,
    npm_config_cache: join(folder, 'npm-cache'),
    npm_config_update_notifier: 'false',
    NO_COLOR: '1',
  };
  try {
    for (;;) {
      if (server.exitCode !== null) throw new Error(`verdaccio exited: ${output}`);
      const isReady = await fetch(`${url}-/ping`).then(
        ({ ok }) => ok,
        () => false,
      );
      if (isReady) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const workspaces = libraries().flatMap((library) => ['--workspace', library.folder]);
    await run('npm', ['publish', ...workspaces, '--loglevel=error'], { cwd: root, env, maxBuffer: 2 ** 26 });
  } catch (error) {
    await stop();
    throw error;
  }
  return { env, stop };
}
