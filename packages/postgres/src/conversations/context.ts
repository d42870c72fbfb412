import type { Blobs, GenerateId } from '@intertie/core';

import type { Database } from '../database.ts';
import type { PostgresHints } from '../hints.ts';

/** Dependencies of conversations, independent of the scope. */
export type Context = { database: Database; hints: PostgresHints; blobs: Blobs; generateId: GenerateId };
