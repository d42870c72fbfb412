import type { GenerateId } from '@intertie/core/internal';
import type { Blobs } from '@intertie/core/store';

import type { Database } from '../database.ts';
import type { PostgresHints } from '../hints.ts';

export type RegistryContext = {
  readonly database: Database;
  readonly hints: PostgresHints;
  readonly blobs: Blobs;
  readonly generateId: GenerateId;
  readonly leaseMs: number;
  readonly resumableLeaseMs: number;
};
