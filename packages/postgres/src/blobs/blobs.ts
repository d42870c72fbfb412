import { createHash } from 'node:crypto';

import { StoreError } from '@intertie/core';
import type { BlobInfo, Blobs, Scope } from '@intertie/core/store';

import type { Database, SqlValue } from '../database.ts';
import { readBlob } from './read-blob.ts';

export type BlobsOptions = {
  /** Maximum size of a stored file in bytes. Larger files can only be registered by URL. Default: 25 MB. */
  maxBytes?: number;
};

type InfoRow = { sha256: string; size: number; media_type: string | null; url: string | null };

const infoColumns = `encode(b.sha256, 'hex') as sha256, b.size::float8 as size, b.media_type, b.url`;

const isHash = /^[0-9a-f]{64}$/;

export function hashBytes(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

export function createBlobs(database: Database, options: BlobsOptions = {}): Blobs {
  const { maxBytes = 25 * 1024 * 1024 } = options;
  return {
    async put(scope, blob) {
      const data = 'data' in blob ? blob.data : undefined;
      const sha256 = 'data' in blob ? hashBytes(blob.data) : blob.sha256;
      if (!isHash.test(sha256)) {
        throw new StoreError('invalid', `"${sha256}" is not a SHA-256. Pass 64 lowercase hexadecimal digits.`);
      }
      if (data && data.length > maxBytes) {
        const fix = 'Store it in another system and save its URL, or raise `maxBlobBytes`.';
        throw new StoreError('invalid', `The file has ${data.length} bytes; the maximum is ${maxBytes}. ${fix}`);
      }
      // Touch first: an existing blob is not sent to the database again.
      const existing = await touchBlob(database, scope, sha256, blob);
      if (existing) return existing;
      const [row] = await database.query<InfoRow>(
        `insert into intertie.blobs as b (scope, sha256, size, media_type, data, url)
         values ($1, decode($2, 'hex'), $3::float8::bigint, $4, $5::bytea, $6)
         on conflict (scope, sha256) do update set touched_at = now(), data = coalesce(b.data, excluded.data),
           media_type = coalesce(b.media_type, excluded.media_type), url = coalesce(b.url, excluded.url)
         returning ${infoColumns}`,
        [
          scope,
          sha256,
          'data' in blob ? blob.data.length : blob.size,
          blob.mediaType ?? null,
          data ?? null,
          'url' in blob ? blob.url : null,
        ],
      );
      return toInfo(row!);
    },

    async info(scope, sha256) {
      if (!isHash.test(sha256)) return null;
      const [row] = await database.query<InfoRow>(
        `select ${infoColumns} from intertie.blobs b where b.scope = $1 and b.sha256 = decode($2, 'hex')`,
        [scope, sha256],
      );
      return row ? toInfo(row) : null;
    },

    get: async (scope, sha256, range) => (isHash.test(sha256) ? readBlob(database, scope, sha256, range) : null),

    async addReference(scope, sha256, { threadId, messageId }) {
      if (!isHash.test(sha256)) return false;
      const values: SqlValue[] = [scope, sha256, threadId, messageId];
      // Touches the blob first, for the same reason as `referenceCtes`.
      const rows = await database.query(
        `with message as materialized (
           select m.thread_id, m.id from intertie.threads t join intertie.conversation_message m on m.thread_id = t.id
           where t.scope = $1 and t.key = $3 and m.id = $4 and m.deleted_at is null),
         touched as (
           update intertie.blobs set touched_at = now()
           where scope = $1 and sha256 = decode($2, 'hex') and exists (select from message) returning sha256),
         referred as (
           insert into intertie.blob_refs (thread_id, message_id, scope, sha256)
           select message.thread_id, message.id, $1, touched.sha256 from message cross join touched
           on conflict do nothing)
         select 1 as found from touched`,
        values,
      );
      return rows.length > 0;
    },

    async touch(scope, sha256) {
      return isHash.test(sha256) && (await touchBlob(database, scope, sha256, {})) !== undefined;
    },

    async collect(minAgeMs, limit) {
      const rows = await database.query(
        `delete from intertie.blobs where (scope, sha256) in (
           select b.scope, b.sha256 from intertie.blobs b
           where b.touched_at < now() - $1::float8 * interval '1 millisecond' and not exists
             (select from intertie.blob_refs r where r.scope = b.scope and r.sha256 = b.sha256)
           order by b.touched_at limit $2::int4)
         and touched_at < now() - $1::float8 * interval '1 millisecond'
         returning 1 as gone`,
        [minAgeMs, limit ?? null],
      );
      return rows.length;
    },
  };
}

/** Updates `touched_at`. Returns undefined if the blob does not exist or lacks a field that is given now. */
async function touchBlob(
  database: Database,
  scope: Scope,
  sha256: string,
  given: { data?: Uint8Array; url?: string; mediaType?: string },
): Promise<BlobInfo | undefined> {
  const [row] = await database.query<InfoRow>(
    `update intertie.blobs b set touched_at = now()
     where b.scope = $1 and b.sha256 = decode($2, 'hex') and (b.data is not null or not $3)
       and (b.url is not null or not $4) and (b.media_type is not null or not $5)
     returning ${infoColumns}`,
    [scope, sha256, given.data !== undefined, given.url !== undefined, given.mediaType !== undefined],
  );
  return row && toInfo(row);
}

function toInfo({ sha256, size, media_type: mediaType, url }: InfoRow): BlobInfo {
  return { sha256, size, ...(mediaType !== null && { mediaType }), ...(url !== null && { url }) };
}
