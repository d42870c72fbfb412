import type { GenerateId } from '@intertie/core/internal';
import type { Blobs } from '@intertie/core/store';

import type { Database } from '../database.ts';
import type { PostgresHints } from '../hints.ts';

/** Dependencies of conversations, independent of the scope. */
export type Context = { database: Database; hints: PostgresHints; blobs: Blobs; generateId: GenerateId };
