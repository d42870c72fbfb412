import { existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { importOptional } from '@intertie/core/internal';

import type { Database } from './database.ts';
import { migrate } from './migrate.ts';
import { lockFolder } from './pglite-folder-lock.ts';
import { useOwnedPglite } from './owned-pglite.ts';

type Driver = Pick<typeof import('@electric-sql/pglite'), 'PGlite' | 'protocol'>;
type Opened = { database: Promise<Database>; users: number };

// Global, because a bundler or a hot reload may load this module twice, and PGlite must not open a folder twice.
const key = Symbol.for('@intertie/postgres folders');
const shared = globalThis as { [key]?: Map<string, Opened> };
const folders: Map<string, Opened> = (shared[key] ??= new Map<string, Opened>());

/** Opens the database in a folder and migrates it. Opening the same folder again in this process returns the same database. */
export async function openFolder(folder: string, options: { schema?: string } = {}): Promise<Database> {
  const driver = await importOptional(() => import('@electric-sql/pglite'), {
    name: '@electric-sql/pglite',
    title: 'PGlite',
    instead: 'set DATABASE_URL to a Postgres server',
  });
  mkdirSync(folder, { recursive: true });
  const place = realpathSync(resolve(folder));
  let opened = folders.get(place);
  if (!opened) {
    opened = { database: open(driver, place, options), users: 0 };
    folders.set(place, opened);
  }
  opened.users += 1;
  try {
    return { ...(await opened.database), close: () => leave(place, opened) };
  } catch (error) {
    folders.delete(place);
    throw error;
  }
}

async function leave(place: string, opened: Opened): Promise<void> {
  opened.users -= 1;
  if (opened.users > 0) return;
  folders.delete(place);
  await (await opened.database).close();
}

async function open({ PGlite, protocol }: Driver, place: string, options: { schema?: string }): Promise<Database> {
  if (process.env['NODE_ENV'] === 'production') {
    const text = `The store in ${place} is embedded: only one process can use it, and a power failure may destroy its data.`;
    process.emitWarning(`${text} Use a Postgres server in production (DATABASE_URL).`, { code: 'INTERTIE_EMBEDDED' });
  }
  const release = lockFolder(join(place, 'database.lock'));
  const data = join(place, 'database');
  const ready = join(place, 'database.ready');
  try {
    // An interrupted first start leaves an unusable database without data, so it is deleted.
    if (!existsSync(ready)) rmSync(data, { recursive: true, force: true });
    const pglite = await PGlite.create(data);
    const close = async (): Promise<void> => {
      await pglite.close();
      release();
    };
    const database = useOwnedPglite(pglite, protocol, { ...options, close });
    await migrate(database);
    // The lock shows that no other process uses the database, so the runs of earlier ones can be taken over at once.
    await database.query('update intertie.processes set lease_until = now() where lease_until > now()');
    writeFileSync(ready, '');
    return database;
  } catch (error) {
    release();
    throw error;
  }
}
