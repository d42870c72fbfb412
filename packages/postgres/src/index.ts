export { readBlobUrl, toBlobUrl } from '@intertie/core';
export { createStore } from './create-store.ts';
export type { CreateStoreOptions } from './create-store.ts';
export { createTables } from './create-tables.ts';
export type { DrizzleDatabase, PgConnection, PgPool } from './drivers.ts';
export { MigrationError } from './migrate.ts';
export { printMigrations } from './migrations.ts';
export type { OptionalMigration, PrintMigrationsOptions } from './migrations.ts';
export { FolderLockedError } from './pglite-folder-lock.ts';
export type { LockHolder } from './pglite-folder-lock.ts';
export { PostgresMemoryStore } from './postgres-store.ts';
export type { PostgresStoreOptions } from './postgres-store.ts';
export {
  blobRefs,
  blobs,
  conversationMessage,
  decisions,
  meta,
  processes,
  requests,
  runEvents,
  runLive,
  runs,
  threads,
} from './schema.ts';
export type { Tables } from './tables.ts';
