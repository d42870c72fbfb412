import { existsSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
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

/** Serves until a signal comes. */
export async function runServe(options: ServeCommandOptions, terminal: Terminal): Promise<void> {
  const path = findConfig(process.cwd(), options.config);
  if (path !== undefined) return serveConfig(await loadConfig(path), { path, options, terminal });
  const found = await defaultConfig({ demos: options.demos });
  try {
    await serveConfig(found.config, { path, options, terminal });
  } finally {
    // Demo servers would keep the process alive, also after a failed start.
    await found.stop();
  }
}

type Served = { path: string | undefined; options: ServeCommandOptions; terminal: Terminal };

async function serveConfig(config: IntertieConfig, { path, options, terminal }: Served): Promise<void> {
  const began = Date.now();
  const isJson = options.log === 'json' || (options.log === undefined && terminal.json);
  const write = (line: string): void => terminal.err(line);
  const logger = isJson ? jsonLogger(write) : plainLogger(write);
  const announceDatabase = (): void => {
    const folder = folderOf(config);
    if (folder !== undefined && !existsSync(folder)) {
      terminal.err(`Creating the database in ${folder} (only once, takes a few seconds) …`);
    }
  };
  const trustProxy =
    options.trustProxy === undefined ? {} : { trustProxy: parseTrustProxy(options.trustProxy, '--trust-proxy') };
  const withOptions = (given: IntertieConfig): IntertieConfig => ({ ...withEnvironment(given), ...trustProxy });
  const served = await serve(withOptions(config), {
    logger,
    onListening: announceDatabase,
    ...(options.host !== undefined && { host: options.host }),
    ...(options.port !== undefined && { port: options.port }),
  });
  const unwatch = path === undefined ? undefined : reloadOnChange(path, served, { terminal, withOptions });
  // Whoever has read the greeting may stop it: that is listened for first.
  const stopped = untilStopped(terminal);
  greet(terminal, served, config, { path, ms: Date.now() - began });
  await stopped;
  unwatch?.();
  await served.close({ drainMs: options.drain * 1000 });
}

/** A configuration that names no database takes that of the environment; `createStore` does so by itself. */
function withEnvironment(config: IntertieConfig): IntertieConfig {
  const port = process.env['PORT'];
  return { ...config, ...(config.port === undefined && port && /^\d+$/.test(port) && { port: Number(port) }) };
}

/** The folder of an embedded database. Undefined: the database is a server, or was opened by the program. */
export function folderOf({ database }: IntertieConfig): string | undefined {
  const target = database ?? (process.env['DATABASE_URL'] || './.intertie');
  return typeof target === 'string' && !/^postgres(ql)?:/.test(target) ? target : undefined;
}

function greet(
  terminal: Terminal,
  { url }: ServedIntertie,
  { agents, database, token }: IntertieConfig,
  { path, ms }: { path: string | undefined; ms: number },
): void {
  const isGuarded = token !== undefined || Boolean(process.env['INTERTIE_TOKEN']);
  const names = Object.keys(agents);
  if (terminal.json) return terminal.out(JSON.stringify({ url, version, agents: names, config: path ?? null }));
  const kept = folderOf({ agents, database }) ?? 'a Postgres server';
  terminal.out('');
  terminal.out(`  ${terminal.style('bold', 'Intertie')} ${version}, ready in ${ms} ms`);
  terminal.out('');
  terminal.out(`  Open      ${terminal.style(['cyan', 'underline'], url)}`);
  if (isGuarded) terminal.out('  Sign in   with ?token=… behind the address, or Authorization: Bearer …');
  terminal.out(`  Agents    ${names.join(', ')}`);
  terminal.out(`  Kept in   ${kept}`);
  terminal.out(`  Set up by ${path ?? 'nothing yet: "intertie init" writes a configuration'}`);
  terminal.out('');
  terminal.out(terminal.style('dim', '  Ctrl+C stops it. "intertie doctor" says what works and what is missing.'));
}

/** Loads the configuration again when the file is saved. What is wrong with it is said, and the server goes on as it was. */
function reloadOnChange(
  path: string,
  served: ServedIntertie,
  { terminal, withOptions }: { terminal: Terminal; withOptions: (config: IntertieConfig) => IntertieConfig },
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const reload = async (): Promise<void> => {
    try {
      await served.reload(withOptions(await loadConfig(path)));
      terminal.err(`Loaded ${basename(path)} again.`);
    } catch (error) {
      if (error instanceof IntertieError && error.code === 'closing') return;
      terminal.err(`${(error as Error).message}\nThe server goes on with what it had.`);
    }
  };
  // The folder is watched, not the file: editors replace a file when they save it.
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

/** A second signal ends the process at once. */
function untilStopped(terminal: Terminal): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) {
        process.off(signal, stop);
        process.once(signal, () => process.exit(130));
      }
      if (!terminal.json) terminal.err('Waiting for what is under way. Once more ends it at once.');
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
  });
}
