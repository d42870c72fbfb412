import { createHash, randomUUID } from 'node:crypto';

import type { Hint, Hints } from '@intertie/core/store';
import pg from 'pg';

import { defaultSchema, type Database } from './database.ts';
import { keepAlive } from './pg-database.ts';

export interface PostgresHints extends Hints {
  /** Channel that statements notify with `toPayload(hint)`. */
  readonly channel: string;
  /** Emits hints of committed statements locally if the server may not deliver them to this process. */
  emitCommitted(hints: readonly Hint[]): void;
  /** Whether hints of other processes currently arrive. */
  isConnected(): boolean;
  close(): Promise<void>;
}

export type HintsOptions = {
  /** Delay before reconnecting, at first and at most. Default: 100 ms and 5 s. */
  reconnectMs?: { first: number; max: number };
  /** Interval at which the connection is checked, so that a silent one is replaced. Default: 15 s. */
  checkMs?: number;
  /** Maximum time to open the connection, and to answer a statement on it. Default: 5 s. */
  timeoutMs?: number;
};

/** Period after connecting in which hints are also emitted locally: statements may have notified before the LISTEN. */
const overlapMs = 5_000;

/** Period in which published hints are batched into one notification. */
const publishMs = 20;

/**
 * Delivers hints by LISTEN and NOTIFY on one connection, which is opened for the first subscriber and reopened when it is
 * lost. A pooler may accept a LISTEN and never deliver, so the connection counts only once it has received a probe. Hints stay
 * in the process if the database is embedded or no session connection is possible; subscribers poll as well.
 */
export function createHints(database: Database, options: HintsOptions = {}): PostgresHints {
  const { first, max } = options.reconnectMs ?? { first: 100, max: 5_000 };
  const { checkMs = 15_000, timeoutMs = 5_000 } = options;
  const channel = toChannel(database.schema);
  const listeners = new Set<(hint: Hint) => void>();
  let client: pg.Client | undefined;
  let isListening = false;
  let listeningSince = 0;
  let isOpened = false;
  let isClosed = false;
  let attempts = 0;
  let retry: ReturnType<typeof setTimeout> | undefined;
  const published = new Set<string>();
  let sending: ReturnType<typeof setTimeout> | undefined;

  const emit = (hint: Hint): void => {
    for (const listener of listeners) {
      // A separate task per listener: one that throws does not affect the others.
      queueMicrotask(() => {
        if (listeners.has(listener)) listener(hint);
      });
    }
  };

  const notify = (...payloads: string[]): Promise<unknown> =>
    database.query('select pg_notify($1, payload)::text from unnest($2::text[]) payload', [channel, payloads]);

  const connect = async (url: string): Promise<void> => {
    const own = new pg.Client({
      connectionString: url,
      application_name: 'intertie hints',
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
      ...keepAlive,
    });
    client = own;
    let check: ReturnType<typeof setInterval> | undefined;
    const probe = `probe ${randomUUID()}`;
    own.on('notification', ({ payload }) => {
      if (payload === probe && client === own) {
        isListening = true;
        listeningSince = performance.now();
        attempts = 0;
      }
      const hint = readPayload(payload);
      if (hint) emit(hint);
    });
    // Called for every way the connection can end; only the first call has an effect.
    const lose = (): void => {
      if (client !== own) return;
      client = undefined;
      isListening = false;
      clearInterval(check);
      void endWithin(own, timeoutMs);
      if (!isClosed) retry = setTimeout(() => open(url), Math.min(first * 2 ** attempts++, max)).unref();
    };
    own.on('error', lose);
    own.on('end', () => {
      clearInterval(check);
      lose();
    });
    try {
      await own.connect();
      await own.query(`listen ${own.escapeIdentifier(channel)}`);
      await notify(probe);
      if (client === own) check = setInterval(() => void own.query('select 1').catch(lose), checkMs).unref();
    } catch {
      lose();
    }
  };

  // Batched and deduplicated, because commits that notify are serialized by the server.
  const send = (): void => {
    sending = undefined;
    const payloads = [...published];
    published.clear();
    // A lost hint is acceptable: subscribers also poll.
    notify(...payloads).catch(() => undefined);
  };

  const open = (url: string): void => {
    retry = undefined;
    isOpened = true;
    void connect(url);
  };

  return {
    channel,
    isConnected: () => isListening || database.embedded,
    emitCommitted(hints) {
      // A duplicate is acceptable, a missing hint is not.
      if (!isListening || performance.now() - listeningSince < overlapMs) for (const hint of hints) emit(hint);
    },
    publish(hint) {
      if (!isListening) emit(hint);
      if (database.embedded || isClosed) return;
      published.add(toPayload(hint));
      sending ??= setTimeout(send, publishMs).unref();
    },
    subscribe(listener) {
      // Wrapped, so that the same function can subscribe twice and unsubscribe separately.
      const own = (hint: Hint): void => listener(hint);
      listeners.add(own);
      const { directUrl } = database;
      if (!database.embedded && directUrl !== undefined && !isClosed && !isOpened) open(directUrl);
      return () => void listeners.delete(own);
    },
    async close() {
      isClosed = true;
      listeners.clear();
      clearTimeout(retry);
      clearTimeout(sending);
      const own = client;
      client = undefined;
      isListening = false;
      if (own) await endWithin(own, timeoutMs);
    },
  };
}

/** Ends a connection. Destroys the socket after a time limit, because a silent server does not answer. */
async function endWithin(client: pg.Client, timeoutMs: number): Promise<void> {
  const timer = setTimeout(() => client.connection.stream.destroy(), timeoutMs);
  await client.end().catch(() => undefined);
  clearTimeout(timer);
}

/** Payloads contain only ids, so they stay far below the limit of 8000 bytes. */
export function toPayload(hint: Hint): string {
  return JSON.stringify(hint);
}

function readPayload(payload: string | undefined): Hint | undefined {
  try {
    return JSON.parse(payload ?? '') as Hint;
  } catch {
    // Other programs may notify on the channel.
    return undefined;
  }
}

/** One channel per database schema. Hashed, because a name has at most 63 bytes and a schema's may already be that long. */
function toChannel(schema: string): string {
  if (schema === defaultSchema) return defaultSchema;
  return `${defaultSchema}_${createHash('sha256').update(schema).digest('hex').slice(0, 32)}`;
}
