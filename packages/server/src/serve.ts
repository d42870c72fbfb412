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

export interface ServedIntertie {
  /** Where it listens. */
  readonly url: string;
  readonly intertie: Intertie;
  /** Goes on with another configuration at the same address. What is under way may end; its readers come back to the new one. */
  reload(config: IntertieConfig): Promise<void>;
  close(options?: CloseIntertieOptions): Promise<void>;
}

const defaultPort = 4111;
/** How long runs of the configuration before may go on after a reload. */
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
  limitTimes(server);
  // The port comes first: a second server on it must not touch the database of the first.
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
  const leaving = new Set<Intertie>();
  let reloads = 0;
  let reloading: Promise<void> = Promise.resolve();
  let isClosing = false;
  const checkOpen = (): void => {
    if (isClosing)
      throw new IntertieError('closing', 'The server is being closed, so it takes no other configuration.');
  };
  const replace = async (next: IntertieConfig): Promise<void> => {
    checkOpen();
    checkAddress(next, host);
    reloads += 1;
    // The one before gives up its lease when it goes; under the same name that would be the lease of the new one.
    const own = runs?.process === undefined ? runs : { ...runs, process: `${runs.process}-${reloads}` };
    const made = await createIntertie(next, { logger, ...(own && { runs: own }) });
    if (isClosing) await made.close();
    checkOpen();
    const before = intertie;
    intertie = made;
    leaving.add(before);
    before
      .close({ drainMs: reloadDrainMs })
      .catch((error: unknown) => logger.log('warn', 'reload', { error: String(error) }))
      .finally(() => leaving.delete(before));
  };
  return {
    url,
    get intertie() {
      return intertie;
    },
    reload(changed) {
      // One after the other: of two at once, one would be forgotten without being closed.
      const replaced = reloading.then(() => replace(changed));
      reloading = replaced.catch(() => undefined);
      return replaced;
    },
    async close(how) {
      isClosing = true;
      // It answers as long as runs are waited for: they may be followed and stopped, and new ones are sent elsewhere.
      await Promise.all([intertie, ...leaving].map((one) => one.close(how)));
      await reloading;
      closeServer(server);
    },
  };
}

function closeServer(server: Server): void {
  server.close();
  server.closeAllConnections();
}

/** Throws `token-required` where others could reach the server without saying who they are. */
function checkAddress(config: IntertieConfig, host: string): void {
  if (isLoopbackHost(host) || config.auth || config.token !== undefined || process.env['INTERTIE_TOKEN']) return;
  throw new IntertieError(
    'token-required',
    `Others can reach ${host}, so the server needs to know who asks: set INTERTIE_TOKEN (for example to the output of "openssl rand -hex 24"), or auth in the configuration.`,
  );
}

/** A client that sends or reads nothing for a while is let go: streams say something every 15 seconds. */
function limitTimes(server: Server): void {
  server.headersTimeout = 15_000;
  server.requestTimeout = 60_000;
  server.keepAliveTimeout = 20_000;
  server.timeout = 120_000;
  server.maxHeadersCount = 100;
}

function listen(server: Server, port: number, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') return reject(error);
      return reject(new IntertieError('port-taken', `Port ${port} of ${host} is taken.`, { cause: error }));
    });
    server.listen(port, host, () => {
      const { port: open } = server.address() as AddressInfo;
      const name = host.includes(':') ? `[${host}]` : host;
      resolve(`http://${name}:${open}`);
    });
  });
}
