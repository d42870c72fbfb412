import { existsSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { defined } from '@intertie/core/internal';
import { parseTrustProxy, type IntertieConfig } from '../config/config.ts';
import { defaultConfig } from './default-config.ts';
import { IntertieError } from '../errors/intertie-error.ts';
import { findConfig, loadConfig } from '../config/load-config.ts';
import { jsonLogger, plainLogger } from '../telemetry/logger.ts';
import { serve, type ServedIntertie } from '../serve.ts';
import { version } from '../config/version.ts';
import type { Terminal } from '../cli/terminal.ts';

export type ServeCommandOptions = {
  host?: string;
  port?: number;
  config?: string;
  trustProxy?: string;
  demos: boolean;
  log?: string;
  drain: number;
};

/** Runs `intertie serve` until the process gets a signal. */
export async function runServe(options: ServeCommandOptions, terminal: Terminal): Promise<void> {
  const path = findConfig(process.cwd(), options.config);
  if (path !== undefined) return serveConfig(await loadConfig(path), { path, options, terminal });
  const found = await defaultConfig({ demos: options.demos, onMissing: ({ message }) => terminal.err(message) });
  try {
    await serveConfig(found.config, { path, options, terminal });
  } finally {
    // Running demo servers would keep the process alive after a failed start.
    await found.stop();
  }
}

type Served = { path: string | undefined; options: ServeCommandOptions; terminal: Terminal };

async function serveConfig(config: IntertieConfig, { path, options, terminal }: Served): Promise<void> {
  const startedAt = Date.now();
  const isJson = options.log === 'json' || (options.log === undefined && terminal.json);
  const write = (line: string): void => terminal.err(line);
  const logger = isJson ? jsonLogger(write) : plainLogger(write);
  const announceDatabase = (): void => {
    const folder = getDatabaseFolder(config);
    if (folder !== undefined && !existsSync(folder)) {
      terminal.err(`Creating the database in ${folder} (once, takes a few seconds) …`);
    }
  };
  const trustProxy =
    options.trustProxy === undefined ? {} : { trustProxy: parseTrustProxy(options.trustProxy, '--trust-proxy') };
  const withOptions = (given: IntertieConfig): IntertieConfig => ({ ...withEnvironment(given), ...trustProxy });
  const served = await serve(withOptions(config), {
    logger,
    onListening: announceDatabase,
    ...defined({ host: options.host, port: options.port }),
  });
  const unwatch = path === undefined ? undefined : reloadOnChange(path, served, { terminal, withOptions });
  // Listens for signals before printing: a test or a script may stop the server as soon as it has read the output.
  const stopped = waitForSignal(terminal);
  printStartup(terminal, served, config, { path, ms: Date.now() - startedAt });
  await stopped;
  unwatch?.();
  await served.close({ drainMs: options.drain * 1000 });
  exitSoon();
}

/** Ends the process if handles that the configuration has opened, such as a database pool, keep it alive. */
function exitSoon(): void {
  setTimeout(() => process.exit(), 1_000).unref();
}

/** Applies `PORT`. `createStore` itself reads `DATABASE_URL`. */
function withEnvironment(config: IntertieConfig): IntertieConfig {
  const port = process.env['PORT'];
  return { ...config, ...(config.port === undefined && port && /^\d+$/.test(port) && { port: Number(port) }) };
}

/** Folder of the embedded database. Undefined for a Postgres server or a store. */
export function getDatabaseFolder({ database }: IntertieConfig): string | undefined {
  const target = database ?? (process.env['DATABASE_URL'] || './.intertie');
  return typeof target === 'string' && !/^postgres(ql)?:/.test(target) ? target : undefined;
}

function printStartup(
  terminal: Terminal,
  { url }: ServedIntertie,
  { agents, database, token }: IntertieConfig,
  { path, ms }: { path: string | undefined; ms: number },
): void {
  const isGuarded = token !== undefined || Boolean(process.env['INTERTIE_TOKEN']);
  const names = Object.keys(agents);
  if (terminal.json) return terminal.out(JSON.stringify({ url, version, agents: names, config: path ?? null }));
  const storage = getDatabaseFolder({ agents, database }) ?? 'a Postgres server';
  terminal.out('');
  terminal.out(`  ${terminal.style('bold', 'Intertie')} ${version}, ready in ${ms} ms`);
  terminal.out('');
  terminal.out(`  Open      ${terminal.style(['cyan', 'underline'], url)}`);
  if (isGuarded) terminal.out('  Sign in   append ?token=… to the address, or send Authorization: Bearer …');
  terminal.out(`  Agents    ${names.join(', ')}`);
  terminal.out(`  Database  ${storage}`);
  terminal.out(`  Config    ${path ?? 'none; create one with "intertie init"'}`);
  terminal.out('');
  terminal.out(terminal.style('dim', '  Press Ctrl+C to stop. "intertie doctor" checks the setup.'));
}

/** Reloads the configuration when its file is saved. If it is invalid, prints the error and keeps the current one. */
function reloadOnChange(
  path: string,
  served: ServedIntertie,
  { terminal, withOptions }: { terminal: Terminal; withOptions: (config: IntertieConfig) => IntertieConfig },
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const reload = async (): Promise<void> => {
    try {
      await served.reload(withOptions(await loadConfig(path)));
      terminal.err(`Reloaded ${basename(path)}.`);
    } catch (error) {
      if (error instanceof IntertieError && error.code === 'closing') return;
      terminal.err(`${(error as Error).message}\nThe server keeps the previous configuration.`);
    }
  };
  // Watches the folder because editors replace a file when they save it.
  const watcher = watch(dirname(path), (_, file) => {
    if (file !== basename(path)) return;
    clearTimeout(timer);
    timer = setTimeout(() => void reload(), 100);
  });
  return () => {
    clearTimeout(timer);
    watcher.close();
  };
}

/** Resolves on the first signal. A second signal ends the process immediately. */
function waitForSignal(terminal: Terminal): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) {
        process.off(signal, stop);
        process.once(signal, () => process.exit(130));
      }
      if (!terminal.json) terminal.err('Waiting for runs to finish. Press Ctrl+C again to exit immediately.');
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
  });
}
