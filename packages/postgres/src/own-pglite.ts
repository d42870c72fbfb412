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
import { JsonList } from './json-list.ts';
import { textList } from './list-text.ts';
import type { PgliteDatabaseOptions } from './pglite-database.ts';
import { Turns } from './turns.ts';

type Protocol = Pick<typeof protocol, 'serialize'>;
type Message = Awaited<ReturnType<PGlite['execProtocol']>>['messages'][number];

/**
 * A PGlite that nobody else uses. It is spoken to as a server is, a statement in one go, and keeps plans: its own `query`
 * enters the database five times for a statement, and has it planned anew each time, which is most of what a short one costs.
 */
export function ownPglite(pglite: PGlite, wire: Protocol, options: PgliteDatabaseOptions = {}): Database {
  const schema = options.schema ?? defaultSchema;
  const connection = new Connection(pglite, wire);
  const turns = new Turns();
  // One statement at a time, also inside a transaction: the answers of two would be mixed up.
  const on = (own: Turns): Sql => ({
    query: <Row extends SqlRow>(text: string, values: readonly SqlValue[] = [], { keepPlan = false } = {}) =>
      own.take(() => connection.query<Row>(inSchema(text, schema), values, keepPlan)),
  });
  const pool: SqlPool = {
    ...on(turns),
    transaction: (work) =>
      turns.take(async () => {
        await connection.command('begin');
        try {
          const result = await work(on(new Turns()));
          await connection.command('commit');
          return result;
        } catch (error) {
          await connection.command('rollback');
          throw error;
        }
      }),
  };
  const close = options.close ?? (() => Promise.resolve());
  return { ...pool, hot: pool, schema, embedded: true, close: () => turns.take(close) };
}

type Plan = {
  /** What the server calls it. */
  name: string;
  /** How many statements there had been when it was made; undefined while there is none. */
  madeAt: number | undefined;
};

class Connection {
  #pglite: PGlite;
  #wire: Protocol;
  /** Those that are kept, by the text of their statements. */
  #plans = new Map<string, Plan>();
  #statements = 0;

  constructor(pglite: PGlite, wire: Protocol) {
    this.#pglite = pglite;
    this.#wire = wire;
  }

  async command(text: string): Promise<void> {
    rowsOf(await this.#send([this.#wire.serialize.query(text)]));
  }

  async query<Row extends SqlRow>(text: string, values: readonly SqlValue[], keepPlan: boolean): Promise<Row[]> {
    const { bind, describe, execute, sync } = this.#wire.serialize;
    this.#statements += 1;
    const plan = keepPlan ? this.#planOf(text) : undefined;
    const statement = plan?.name ?? '';
    const messages = await this.#send([
      ...(plan && this.#isFresh(plan) ? [] : this.#prepare(text, plan)),
      bind({ statement, values: values.map(toWire) }),
      describe({ type: 'P' }),
      execute({}),
      sync(),
    ]);
    const isMade = messages.some(({ name }) => name === 'parseComplete');
    // It is kept even where what follows is refused.
    if (plan && isMade) plan.madeAt = this.#statements;
    return rowsOf(messages) as Row[];
  }

  #prepare(text: string, plan: Plan | undefined): Uint8Array[] {
    const { parse, close } = this.#wire.serialize;
    if (!plan) return [parse({ text })];
    const { name } = plan;
    plan.madeAt = undefined;
    return [close({ type: 'S', name }), parse({ name, text })];
  }

  #planOf(text: string): Plan {
    let plan = this.#plans.get(text);
    if (!plan) this.#plans.set(text, (plan = { name: `intertie_${this.#plans.size + 1}`, madeAt: undefined }));
    return plan;
  }

  /** A plan for small tables is none for large ones, and nobody tells PGlite that they have grown. */
  #isFresh({ madeAt }: Plan): boolean {
    return madeAt !== undefined && this.#statements < 2 * madeAt + renewAfter;
  }

  async #send(pieces: Uint8Array[]): Promise<Message[]> {
    if (this.#pglite.closed) throw new Error('PGlite is closed');
    const { messages } = await this.#pglite.execProtocol(Buffer.concat(pieces), { throwOnError: false });
    return messages;
  }
}

/** After so many statements at least are plans made anew; from then on, whenever there have been twice as many. */
const renewAfter = 100;

/** As text, which the server reads as whatever the statement takes it for; bytes as they are. */
function toWire(value: SqlValue): string | Uint8Array | null {
  if (value === null || typeof value === 'string' || value instanceof Uint8Array) return value;
  if (value instanceof JsonList) return value.toBytes();
  if (typeof value !== 'object') return String(value);
  return textList(value.map((item) => (item === null ? undefined : String(item))));
}

type Field = { name: string; dataTypeID: number };

/** The rows of an answer. Throws the server's error, if it is one. */
function rowsOf(messages: readonly Message[]): SqlRow[] {
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
  // By number: a long branch has tens of thousands of values.
  for (let index = 0; index < fields.length; index++) {
    const { name, dataTypeID } = fields[index]!;
    const text = values[index] ?? null;
    const read = text === null ? undefined : readers.get(dataTypeID);
    row[name] = read ? read(text!) : text;
  }
  return row;
}

/** The kinds of value that statements give, beside text: see `Sql`. */
const readers = new Map<number, (text: string) => SqlRow[string]>([
  [16, (text) => text === 't'],
  [23, Number],
  [701, Number],
  [17, (text) => Buffer.from(text.slice(2), 'hex')],
]);
