import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Fault of one statement. The server has executed (and committed) it, except after `drop-statement`. */
export type Fault =
  /** Cuts the connection before the server receives the statement. */
  | { kind: 'drop-statement' }
  /** Cuts the connection after the server has answered, without passing the answer on. */
  | { kind: 'drop-reply' }
  /** Passes nothing on any more on this connection, which stays open. The server answers the statement. */
  | { kind: 'silence' }
  /** Passes the complete answer on after a delay. */
  | { kind: 'delay'; ms: number }
  /** Sends a fatal ErrorResponse in the same segment as the answer's ReadyForQuery, then closes the connection. */
  | { kind: 'append-error'; code?: string; message?: string };

/** The statement that stands for the start of a session, whose answer ends in the first ReadyForQuery. */
export const sessionStart = '(start of the session)';

/** A part of the statement in any case, or a predicate. `earlier` holds the previous statements of the same transaction. */
export type StatementMatch = string | RegExp | ((statement: string, earlier: readonly string[]) => boolean);

/** Which connections go silent: those that exist, those that are opened later, or both (the default). */
export type SilenceOptions = { existing?: boolean; future?: boolean };

export interface FaultProxy {
  /** The URL of the server with the proxy's host and port. */
  readonly url: string;
  /** Number of open client connections. */
  readonly connections: number;
  /** Delay of every reply, in milliseconds. Default: 0. */
  delayMs: number;
  /** Applies a fault to the next statement that matches. Resolves with the statement when the fault has happened. */
  once(match: StatementMatch, fault: Fault): Promise<string>;
  /** Removes all faults that have not happened. */
  clear(): void;
  /** Accepts connections and bytes but passes nothing on, in either direction, until `resume`. */
  silence(options?: SilenceOptions): void;
  /** Ends the silence and passes on everything that was held back. */
  resume(): void;
  /** Cuts all open connections. New ones are still accepted. */
  cut(): void;
  /** Cuts all connections and refuses new ones (ECONNREFUSED) until `up`. */
  down(): Promise<void>;
  up(): Promise<void>;
  close(): Promise<void>;
}

type Rule = { match: StatementMatch; fault: Fault; done: (statement: string) => void };

/** Statements up to one ReadyForQuery: a simple query, or everything up to a Sync. */
type Exchange = { statement: string; rule: Rule | undefined };

/** Starts a TCP proxy on loopback in front of the Postgres server of a `postgres://` URL. TLS is declined. */
export async function startFaultProxy(serverUrl: string): Promise<FaultProxy> {
  const target = new URL(serverUrl);
  const rules: Rule[] = [];
  const open = new Set<Connection>();
  let silenceFuture = false;
  let delayMs = 0;

  const takeRule = (statement: string, earlier: readonly string[]): Rule | undefined => {
    const index = rules.findIndex(({ match }) => isMatch(match, statement, earlier));
    return index < 0 ? undefined : rules.splice(index, 1)[0];
  };

  const server: Server = createServer((client) => {
    const upstream = connect(Number(target.port || 5432), target.hostname);
    const connection = new Connection(client, upstream, { takeRule, delayMs: () => delayMs });
    if (silenceFuture) connection.silence();
    open.add(connection);
    client.on('close', () => open.delete(connection));
  });
  const listen = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => {
        server.off('error', reject);
        resolve();
      });
    });
  const cut = (): void => {
    for (const connection of open) connection.cut();
  };
  const down = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    cut();
    await closed;
  };

  await listen(0);
  const { port } = server.address() as AddressInfo;
  const url = new URL(serverUrl);
  url.hostname = '127.0.0.1';
  url.port = String(port);

  return {
    url: url.href,
    get connections() {
      return open.size;
    },
    get delayMs() {
      return delayMs;
    },
    set delayMs(ms) {
      delayMs = ms;
    },
    once: (match, fault) => new Promise((done) => void rules.push({ match, fault, done })),
    clear: () => void rules.splice(0),
    silence({ existing = true, future = true } = {}) {
      silenceFuture = future;
      if (existing) for (const connection of open) connection.silence();
    },
    resume() {
      silenceFuture = false;
      for (const connection of open) connection.resume();
    },
    cut,
    down,
    up: () => listen(port),
    close: () => (server.listening ? down() : Promise.resolve()),
  };
}

type ConnectionOptions = {
  takeRule: (statement: string, earlier: readonly string[]) => Rule | undefined;
  delayMs: () => number;
};

class Connection {
  readonly #client: Socket;
  readonly #upstream: Socket;
  readonly #options: ConnectionOptions;
  readonly #fromClient: FrameReader;
  readonly #fromServer = new FrameReader(true);
  /** Exchanges that the server has not completed. */
  readonly #exchanges: Exchange[] = [];
  /** Text by name of each prepared statement. */
  readonly #prepared = new Map<string, string>();
  #pending: string[] = [];
  #transaction: string[] = [];
  /** Frames of an answer that is passed on, or dropped, as a whole. */
  #answer: Buffer[] = [];
  /** Writes that wait for `resume`. */
  #held: Array<() => void> | undefined;
  #delayed: Promise<void> | undefined;

  constructor(client: Socket, upstream: Socket, options: ConnectionOptions) {
    this.#client = client;
    this.#upstream = upstream;
    this.#options = options;
    this.#fromClient = new FrameReader(false);
    client.setNoDelay(true);
    upstream.setNoDelay(true);
    client.on('data', (bytes) => {
      for (const frame of this.#fromClient.read(bytes)) this.#handleClientFrame(frame);
    });
    upstream.on('data', (bytes) => {
      for (const frame of this.#fromServer.read(bytes)) this.#handleServerFrame(frame);
    });
    for (const socket of [client, upstream]) socket.on('error', () => undefined);
    client.on('close', () => upstream.destroy());
    // Ends the client's side after the writes that are still delayed.
    upstream.on('close', () => this.#pass(() => client.end()));
  }

  silence(): void {
    this.#held ??= [];
  }

  resume(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const write of held) write();
  }

  cut(): void {
    this.#client.destroy();
    this.#upstream.destroy();
  }

  #handleClientFrame(frame: Buffer): void {
    if (isEncryptionRequest(frame)) return this.#pass(() => this.#client.write('N'));
    const statement = this.#readStatement(frame);
    if (statement !== undefined) {
      const rule = this.#options.takeRule(statement, this.#transaction);
      this.#exchanges.push({ statement, rule });
      if (statement && statement !== sessionStart) this.#transaction.push(statement);
      if (rule?.fault.kind === 'drop-statement') {
        this.cut();
        return rule.done(statement);
      }
    }
    this.#pass(() => this.#upstream.write(frame));
  }

  /** Returns the text of a completed exchange, or undefined for a frame in its middle. */
  #readStatement(frame: Buffer): string | undefined {
    if (isStartup(frame)) return sessionStart;
    const [first = '', second = ''] = frame.toString('utf8', 5).split('\0');
    switch (this.#fromClient.getType(frame)) {
      case 'Q':
        return first;
      case 'P':
        this.#prepared.set(first, second);
        return undefined;
      case 'B':
        this.#pending.push(this.#prepared.get(second) ?? '');
        return undefined;
      case 'S':
        return this.#pending.splice(0).join('; ');
      default:
        return undefined;
    }
  }

  #handleServerFrame(frame: Buffer): void {
    const [exchange] = this.#exchanges;
    const isReady = this.#fromServer.getType(frame) === 'Z';
    if (isReady) {
      this.#exchanges.shift();
      // The status byte of ReadyForQuery: idle, so no transaction is open.
      if (frame.toString('latin1', 5, 6) === 'I') this.#transaction = [];
    }
    // The client has to answer the server's authentication requests, so they are never held back.
    if (!exchange?.rule || (exchange.statement === sessionStart && isAuthentication(frame))) return this.#reply(frame);
    this.#answer.push(frame);
    if (isReady) this.#applyFault(exchange.rule, exchange.statement, Buffer.concat(this.#answer.splice(0)));
  }

  #applyFault({ fault, done }: Rule, statement: string, answer: Buffer): void {
    switch (fault.kind) {
      case 'drop-statement':
      case 'drop-reply':
        this.cut();
        break;
      case 'silence':
        this.silence();
        this.#reply(answer);
        break;
      case 'delay':
        return this.#reply(answer, fault.ms, () => done(statement));
      case 'append-error':
        this.#reply(Buffer.concat([answer, errorResponse(fault)]));
        this.#pass(() => this.#client.end());
        break;
    }
    done(statement);
  }

  #reply(bytes: Buffer, delayMs = this.#options.delayMs(), after?: () => void): void {
    const write = (): void =>
      this.#pass(() => {
        this.#client.write(bytes);
        after?.();
      });
    if (delayMs === 0 && !this.#delayed) return write();
    // A later reply never overtakes a delayed one.
    const writeAfter = async (earlier: Promise<void> | undefined, due: Promise<void>): Promise<void> => {
      await earlier;
      await due;
      if (this.#delayed === delayed) this.#delayed = undefined;
      write();
    };
    const delayed = writeAfter(this.#delayed, sleep(delayMs));
    this.#delayed = delayed;
  }

  #pass(write: () => void): void {
    if (this.#held) this.#held.push(write);
    else write();
  }
}

/** Splits a byte stream into protocol messages. A client's first messages have no type byte. */
class FrameReader {
  #bytes: Buffer = Buffer.alloc(0);
  #isTyped: boolean;

  constructor(isTyped: boolean) {
    this.#isTyped = isTyped;
  }

  *read(bytes: Buffer): Generator<Buffer> {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    for (;;) {
      const typeBytes = this.#isTyped ? 1 : 0;
      if (this.#bytes.length < typeBytes + 4) return;
      const size = typeBytes + this.#bytes.readInt32BE(typeBytes);
      if (this.#bytes.length < size) return;
      const frame = this.#bytes.subarray(0, size);
      this.#bytes = this.#bytes.subarray(size);
      yield frame;
      // The StartupMessage is the last message without a type byte.
      if (!this.#isTyped) this.#isTyped = !isEncryptionRequest(frame);
    }
  }

  getType(frame: Buffer): string {
    return isStartup(frame) ? '' : String.fromCharCode(frame[0] ?? 0);
  }
}

/** Type bytes are letters, while the first byte of a startup message's length is zero. */
function isStartup(frame: Buffer): boolean {
  return frame[0] === 0;
}

/** An authentication message that asks the client for something; code 0 is AuthenticationOk. */
function isAuthentication(frame: Buffer): boolean {
  return frame.toString('latin1', 0, 1) === 'R' && frame.readInt32BE(5) !== 0;
}

/** SSLRequest and GSSENCRequest. */
function isEncryptionRequest(frame: Buffer): boolean {
  return isStartup(frame) && frame.length === 8 && [80877103, 80877104].includes(frame.readInt32BE(4));
}

function errorResponse({ code = '57P01', message = 'terminating connection due to administrator command' }): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

function isMatch(match: StatementMatch, statement: string, earlier: readonly string[]): boolean {
  if (typeof match === 'function') return match(statement, earlier);
  if (typeof match === 'string') return statement.toLowerCase().includes(match.toLowerCase());
  return match.test(statement);
}
