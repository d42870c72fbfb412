import { createHash, randomUUID } from 'node:crypto';

import type { Hint, Hints } from '@intertie/core/store';
import pg from 'pg';

import { defaultSchema, type Database } from './database.ts';
import { keepAlive } from './pg-database.ts';

export interface PostgresHints extends Hints {
  /** The channel that statements notify, with `toPayload` of a hint. */
  readonly channel: string;
  /** Statements that have told of these are committed: who is not told by the server is told here. */
  committed(hints: readonly Hint[]): void;
  /** Whether hints of other processes arrive just now. */
  isConnected(): boolean;
  close(): Promise<void>;
}

export type HintsOptions = {
  /** How long after a lost connection the next one is tried, at first and at most. */
  reconnectMs?: { first: number; max: number };
  /** Interval at which the connection is checked, so that one that went silent is replaced. Default: 15 s. */
  checkMs?: number;
  /** Maximum time to open the connection, and to answer a statement on it. Default: 5 s. */
  timeoutMs?: number;
};

/** How long a statement may take that has begun before we were listening: what it told, the server has told nobody. */
const overlapMs = 5_000;

/** How long hints are gathered that no statement tells of. */
const publishMs = 20;

/**
 * Hints by LISTEN and NOTIFY, on one connection that is opened with the first subscriber and opened again when it is lost.
 * A pooler may take a LISTEN and never pass anything on, so only a connection that has heard us counts as one. Embedded,
 * and where no connection with a session of its own can be had, they stay in the process; those who need to know of other
 * processes also poll.
 */
export function createHints(database: Database, options: HintsOptions = {}): PostgresHints {
  const { first, max } = options.reconnectMs ?? { first: 100, max: 5_000 };
  const { checkMs = 15_000, timeoutMs = 5_000 } = options;
  const channel = channelOf(database.schema);
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
      // One task each: a listener that throws takes the hint from no other.
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
    // Whatever ends the connection, by its own or while it is being opened, ends up here once.
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

  // Commits that notify wait for each other, so what is published within a moment goes in one, each thing once.
  const send = (): void => {
    sending = undefined;
    const payloads = [...published];
    published.clear();
    // A hint may be lost: whoever waits for it also polls.
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
    committed(hints) {
      // Twice is allowed, never is not.
      if (!isListening || performance.now() - listeningSince < overlapMs) for (const hint of hints) emit(hint);
    },
    publish(hint) {
      if (!isListening) emit(hint);
      if (database.embedded || isClosed) return;
      published.add(toPayload(hint));
      sending ??= setTimeout(send, publishMs).unref();
    },
    subscribe(listener) {
      // A function of its own, so that who subscribes twice is told twice and unsubscribes once.
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

/** Ends a connection. A server that went silent does not answer, so the socket is destroyed after a time limit. */
async function endWithin(client: pg.Client, timeoutMs: number): Promise<void> {
  const timer = setTimeout(() => client.connection.stream.destroy(), timeoutMs);
  await client.end().catch(() => undefined);
  clearTimeout(timer);
}

/** Ids alone, so that no payload comes near the limit of 8000 bytes. */
export function toPayload(hint: Hint): string {
  return JSON.stringify(hint);
}

function readPayload(payload: string | undefined): Hint | undefined {
  try {
    return JSON.parse(payload ?? '') as Hint;
  } catch {
    // Anybody may notify on the channel.
    return undefined;
  }
}

/** One per database schema. A name has 63 bytes at most, and a schema's may be that long already. */
function channelOf(schema: string): string {
  if (schema === defaultSchema) return defaultSchema;
  return `${defaultSchema}_${createHash('sha256').update(schema).digest('hex').slice(0, 32)}`;
}
