import { DatabaseUnavailableError } from '@intertie/core';
import type { LogDefinition } from '@intertie/core/store';
import { connect, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node';

import { createJetStreamLog } from './jetstream-log.ts';
import { createNatsHints } from './nats-hints.ts';
import type { RunStreamOptions } from './run-streams.ts';

export type NatsOptions = RunStreamOptions & {
  /** Addresses of the servers, for example `['nats://10.0.0.1:4222', 'nats://10.0.0.2:4222']`. */
  servers: string | string[];
  /** Other options of the connection, for example credentials and TLS. */
  connection?: Omit<NodeConnectionOptions, 'servers'>;
};

const reconnectMs = 250;

/** A stopped server keeps its connections open and answers nothing, so the client leaves it after about six seconds. */
const connectionDefaults: NodeConnectionOptions = {
  timeout: 3_000,
  pingInterval: 2_000,
  maxPingOut: 2,
  maxReconnectAttempts: -1,
  // An error per request, for its stack trace, is measurable.
  noAsyncTraces: true,
};

/** The run log on NATS JetStream, for `log` of a server's configuration. Notifications of new events use NATS too. */
export function nats({ servers, connection: connectionOptions, ...options }: NatsOptions): LogDefinition {
  return {
    async open({ onError } = {}) {
      const connection = await connectTo(servers, connectionOptions);
      try {
        const log = createJetStreamLog(connection, { ...options, ...(onError && { onError }) });
        await log.open();
        const subject = `${options.stream ?? 'intertie'}-hints`;
        return { log, hints: createNatsHints(connection, { subject }), close: () => connection.close() };
      } catch (error) {
        await connection.close();
        throw error;
      }
    },
  };
}

/**
 * Returns the delay before the next attempt. The client adds it to the wall clock of the last one, so it would not reconnect for as
 * long as a clock was set back. A negative delay makes it dial; this clock is monotonic.
 */
function createReconnectDelay(): () => number {
  let dialedAt = -Infinity;
  return () => {
    if (performance.now() - dialedAt < reconnectMs) return reconnectMs;
    dialedAt = performance.now();
    return -Infinity;
  };
}

async function connectTo(servers: string | string[], options: NatsOptions['connection']): Promise<NatsConnection> {
  try {
    return await connect({
      name: 'intertie',
      reconnectDelayHandler: createReconnectDelay(),
      ...connectionDefaults,
      ...options,
      servers,
    });
  } catch (cause) {
    const list = [servers].flat().map(hidePassword).join(', ');
    const why = cause instanceof Error ? cause.message : String(cause);
    const fix = 'Start nats-server with JetStream (-js), or correct `servers` of nats() in the configuration.';
    throw new DatabaseUnavailableError(`No NATS server can be reached at ${list}: ${why}. ${fix}`, { cause });
  }
}

function hidePassword(server: string): string {
  return server.replace(/\/\/[^@/]*@/, '//***@');
}
