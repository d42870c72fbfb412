import type { PGlite, protocol } from '@electric-sql/pglite';

import {
  defaultSchema,
  inSchema,
  type Database,
  type Sql,
  type SqlPool,
  type SqlRow,
  type SqlValue,
} from './database.ts';
import { JsonArrayParameter } from './json-array-parameter.ts';
import { toTextArray } from './array-literal.ts';
import type { PgliteDatabaseOptions } from './pglite-database.ts';

type Protocol = Pick<typeof protocol, 'serialize'>;
type Message = Awaited<ReturnType<PGlite['execProtocol']>>['messages'][number];

/** Runs tasks one after the other, in the order of the calls. */
class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();

  run<Result>(task: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(task);
    this.#last = result.catch(() => undefined);
    return result;
  }
}

/**
 * Uses a PGlite that only this store uses. Sends each statement as one batch of protocol messages and prepares frequent ones:
 * PGlite's own `query` enters the database five times per statement and plans it each time, which dominates short statements.
 */
export function useOwnedPglite(pglite: PGlite, wire: Protocol, options: PgliteDatabaseOptions = {}): Database {
  const schema = options.schema ?? defaultSchema;
  const connection = new Connection(pglite, wire);
  const queue = new SerialQueue();
  // One statement at a time, also inside a transaction: concurrent replies would be mixed up.
  const on = (own: SerialQueue): Sql => ({
    query: <Row extends SqlRow>(text: string, values: readonly SqlValue[] = [], { prepare = false } = {}) =>
      own.run(() => connection.query<Row>(inSchema(text, schema), values, prepare)),
  });
  const pool: SqlPool = {
    ...on(queue),
    transaction: (work) =>
      queue.run(async () => {
        await connection.command('begin');
        try {
          const result = await work(on(new SerialQueue()));
          await connection.command('commit');
          return result;
        } catch (error) {
          await connection.command('rollback');
          throw error;
        }
      }),
  };
  const close = options.close ?? (() => Promise.resolve());
  return { ...pool, hot: pool, schema, embedded: true, close: () => queue.run(close) };
}

type PreparedStatement = {
  /** Name of the statement on the server. */
  name: string;
  /** Number of statements executed when it was prepared. Undefined if it is not prepared. */
  preparedAt: number | undefined;
};

class Connection {
  #pglite: PGlite;
  #wire: Protocol;
  /** Prepared statements by text. */
  #prepared = new Map<string, PreparedStatement>();
  #statements = 0;

  constructor(pglite: PGlite, wire: Protocol) {
    this.#pglite = pglite;
    this.#wire = wire;
  }

  async command(text: string): Promise<void> {
    readRows(await this.#send([this.#wire.serialize.query(text)]));
  }

  async query<Row extends SqlRow>(text: string, values: readonly SqlValue[], prepare: boolean): Promise<Row[]> {
    const { bind, describe, execute, sync } = this.#wire.serialize;
    this.#statements += 1;
    const prepared = prepare ? this.#getPrepared(text) : undefined;
    const statement = prepared?.name ?? '';
    const messages = await this.#send([
      ...(prepared && this.#isFresh(prepared) ? [] : this.#parse(text, prepared)),
      bind({ statement, values: values.map(toWire) }),
      describe({ type: 'P' }),
      execute({}),
      sync(),
    ]);
    const isParsed = messages.some(({ name }) => name === 'parseComplete');
    // The statement stays prepared even if its execution fails.
    if (prepared && isParsed) prepared.preparedAt = this.#statements;
    return readRows(messages) as Row[];
  }

  #parse(text: string, prepared: PreparedStatement | undefined): Uint8Array[] {
    const { parse, close } = this.#wire.serialize;
    if (!prepared) return [parse({ text })];
    const { name } = prepared;
    prepared.preparedAt = undefined;
    return [close({ type: 'S', name }), parse({ name, text })];
  }

  #getPrepared(text: string): PreparedStatement {
    let prepared = this.#prepared.get(text);
    if (!prepared) {
      prepared = { name: `intertie_${this.#prepared.size + 1}`, preparedAt: undefined };
      this.#prepared.set(text, prepared);
    }
    return prepared;
  }

  /** Replans as tables grow: a plan for small tables is bad for large ones, and PGlite has no autovacuum that would invalidate it. */
  #isFresh({ preparedAt }: PreparedStatement): boolean {
    return preparedAt !== undefined && this.#statements < 2 * preparedAt + replanAfter;
  }

  async #send(requests: Uint8Array[]): Promise<Message[]> {
    if (this.#pglite.closed) throw new Error('PGlite is closed');
    const { messages } = await this.#pglite.execProtocol(Buffer.concat(requests), { throwOnError: false });
    return messages;
  }
}

/** Minimum number of statements before a plan is renewed. After that, it is renewed each time their number has doubled. */
const replanAfter = 100;

/** Converts a value to text, which the server parses as the type that the statement expects. Bytes stay bytes. */
function toWire(value: SqlValue): string | Uint8Array | null {
  if (value === null || typeof value === 'string' || value instanceof Uint8Array) return value;
  if (value instanceof JsonArrayParameter) return value.toBytes();
  if (typeof value !== 'object') return String(value);
  return toTextArray(value.map((item) => (item === null ? undefined : String(item))));
}

type Field = { name: string; dataTypeID: number };

/** Reads the rows of a reply. Throws the error of the server. */
function readRows(messages: readonly Message[]): SqlRow[] {
  const failed = messages.find(({ name }) => name === 'error');
  if (failed) throw failed;
  let fields: Field[] = [];
  const rows: SqlRow[] = [];
  for (const message of messages) {
    if (message.name === 'rowDescription') ({ fields } = message as Message & { fields: Field[] });
    else if (message.name === 'dataRow') rows.push(toRow(fields, (message as Message & { fields: string[] }).fields));
  }
  return rows;
}

function toRow(fields: readonly Field[], values: ReadonlyArray<string | null>): SqlRow {
  const row: SqlRow = {};
  // An indexed loop: a long branch has tens of thousands of values.
  for (let index = 0; index < fields.length; index++) {
    const { name, dataTypeID } = fields[index]!;
    const text = values[index] ?? null;
    const parse = text === null ? undefined : parsers.get(dataTypeID);
    row[name] = parse ? parse(text!) : text;
  }
  return row;
}

/** Parsers by type oid for the result types besides text: see `Sql`. */
const parsers = new Map<number, (text: string) => SqlRow[string]>([
  [16, (text) => text === 't'],
  [23, Number],
  [701, Number],
  [17, (text) => Buffer.from(text.slice(2), 'hex')],
]);
