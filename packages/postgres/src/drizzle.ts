/** Drizzle tables for your own queries: `@intertie/postgres/drizzle`. Needs `drizzle-orm`. */

import { createTables } from './create-tables.ts';
import { defaultSchema } from './database.ts';
import type { Tables } from './tables.ts';

export { createTables } from './create-tables.ts';
export type { Tables } from './tables.ts';

const tables: Tables = createTables(defaultSchema);

export const meta: Tables['meta'] = tables.meta;
export const processes: Tables['processes'] = tables.processes;
export const threads: Tables['threads'] = tables.threads;
export const conversationMessage: Tables['conversationMessage'] = tables.conversationMessage;
export const runs: Tables['runs'] = tables.runs;
export const runLive: Tables['runLive'] = tables.runLive;
export const runEvents: Tables['runEvents'] = tables.runEvents;
export const decisions: Tables['decisions'] = tables.decisions;
export const requests: Tables['requests'] = tables.requests;
export const blobs: Tables['blobs'] = tables.blobs;
export const blobRefs: Tables['blobRefs'] = tables.blobRefs;
