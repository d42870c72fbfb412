import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { IntertieConfig } from './config/config.ts';
import {
  createIntertie,
  type CloseIntertieOptions,
  type CreateIntertieOptions,
  type Intertie,
} from './create-intertie.ts';
import { isLoopbackHost } from './net/loopback.ts';
import { nodeListener } from './http/node-listener.ts';
import { IntertieError } from './errors/intertie-error.ts';
import { silentLogger } from './telemetry/logger.ts';

export type ServeOptions = CreateIntertieOptions & {
  host?: string;
  port?: number;
  /** Called when the port is bound, before the database is opened. Requests wait until the server has started. */
  onListening?: (url: string) => void;
};

/** Server that listens on a port. */
export interface ServedIntertie {
  /** Address that the server listens on. */
  readonly url: string;
  readonly intertie: Intertie;
  /** Applies a new configuration at the same address. Running runs may finish; their readers reconnect to the new one. */
  reload(config: IntertieConfig): Promise<void>;
  close(options?: CloseIntertieOptions): Promise<void>;
}

const defaultPort = 4111;
/** Time for runs of the previous configuration to finish after a reload. */
const reloadDrainMs = 60_000;

/** Serves a configuration over HTTP on Node. */
export async function serve(config: IntertieConfig, options: ServeOptions = {}): Promise<ServedIntertie> {
  const { logger = silentLogger, runs } = options;
  const host = options.host ?? config.host ?? '127.0.0.1';
  checkAddress(config, host);
  let markStarted!: () => void;
  const started = new Promise<void>((resolve) => (markStarted = resolve));
  const server = createServer(
    nodeListener(
      async (request, env) => {
        await started;
        return intertie.fetch(request, env);
      },
      (error) => logger.log('warn', 'connection', { error: error instanceof Error ? error.message : String(error) }),
    ),
  );
  setTimeouts(server);
  // Binds the port before opening the database: a second server on the port must not touch the database of the first.
  const url = await listen(server, options.port ?? config.port ?? defaultPort, host);
  let intertie: Intertie;
  try {
    options.onListening?.(url);
    intertie = await createIntertie(config, { logger, ...(runs && { runs }) });
  } catch (error) {
    closeServer(server);
    throw error;
  }
  markStarted();
  const retiring = new Set<Intertie>();
  let reloads = 0;
  let reloading: Promise<void> = Promise.resolve();
  let isClosing = false;
  const checkOpen = (): void => {
    if (isClosing)
      throw new IntertieError('closing', 'The server is shutting down and cannot load a new configuration.');
  };
  const replace = async (next: IntertieConfig): Promise<void> => {
    checkOpen();
    checkAddress(next, host);
    reloads += 1;
    // The previous instance releases its lease when it closes. With the same process name it would release the new one's.
    const runOptions = runs?.process === undefined ? runs : { ...runs, process: `${runs.process}-${reloads}` };
    const created = await createIntertie(next, { logger, ...(runOptions && { runs: runOptions }) });
    if (isClosing) await created.close();
    checkOpen();
    const previous = intertie;
    intertie = created;
    retiring.add(previous);
    previous
      .close({ drainMs: reloadDrainMs, handOverLast: true })
      .catch((error: unknown) => logger.log('warn', 'reload', { error: String(error) }))
      .finally(() => retiring.delete(previous));
  };
  return {
    url,
    get intertie() {
      return intertie;
    },
    reload(changed) {
      // Sequential: of two concurrent reloads, one instance would never be closed.
      const replaced = reloading.then(() => replace(changed));
      reloading = replaced.catch(() => undefined);
      return replaced;
    },
    async close(closeOptions) {
      isClosing = true;
      // The server still answers while runs finish: clients can follow and stop them, and new runs get 503.
      await Promise.all([intertie, ...retiring].map((instance) => instance.close(closeOptions)));
      await reloading;
      closeServer(server);
    },
  };
}

function closeServer(server: Server): void {
  server.close();
  server.closeAllConnections();
}

/** Throws `token-required` if other machines could reach the server without credentials. */
function checkAddress(config: IntertieConfig, host: string): void {
  if (isLoopbackHost(host) || config.auth || config.token !== undefined || process.env['INTERTIE_TOKEN']) return;
  throw new IntertieError(
    'token-required',
    `Other machines can reach ${host}, so the server needs authentication: set INTERTIE_TOKEN (for example to the output of "openssl rand -hex 24"), or auth in the configuration.`,
  );
}

/** Closes idle connections. Streams stay open because they send a keep-alive comment every 15 seconds. */
function setTimeouts(server: Server): void {
  server.headersTimeout = 15_000;
  server.requestTimeout = 60_000;
  // Longer than the 60 seconds for which load balancers keep idle connections. Otherwise the server closes a connection
  // that the balancer is about to use, and the client gets a 502.
  server.keepAliveTimeout = 75_000;
  server.timeout = 120_000;
  server.maxHeadersCount = 100;
}

function listen(server: Server, port: number, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') return reject(error);
      return reject(new IntertieError('port-taken', `Port ${port} of ${host} is already in use.`, { cause: error }));
    });
    server.listen(port, host, () => {
      const { port: open } = server.address() as AddressInfo;
      const name = host.includes(':') ? `[${host}]` : host;
      resolve(`http://${name}:${open}`);
    });
  });
}
