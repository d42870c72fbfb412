import type { ByteRange, Scope } from '@intertie/core/store';

import type { Database } from '../database.ts';

const chunkBytes = 256 * 1024;

/**
 * Streams the bytes in chunks, each read on demand. The column is not compressed, so the database reads only the chunk.
 * Returns null if the bytes are not stored.
 */
export async function readBlob(
  database: Database,
  scope: Scope,
  sha256: string,
  range: ByteRange = { start: 0 },
): Promise<ReadableStream<Uint8Array> | null> {
  const [row] = await database.query<{ size: number }>(
    `select octet_length(data)::float8 as size from intertie.blobs
     where scope = $1 and sha256 = decode($2, 'hex') and data is not null`,
    [scope, sha256],
  );
  if (!row) return null;
  let at = clampIndex(range.start, row.size);
  const end = clampIndex(range.end ?? row.size, row.size);
  return new ReadableStream({
    async pull(controller) {
      if (at < end) {
        const length = Math.min(chunkBytes, end - at);
        const [chunk] = await database.query<{ data: Uint8Array }>(
          `select substring(data from $3::int4 for $4::int4) as data from intertie.blobs
           where scope = $1 and sha256 = decode($2, 'hex') and data is not null`,
          [scope, sha256, at + 1, length],
        );
        if (!chunk) throw new Error(`Blob ${sha256} was deleted while it was read. Request it again.`);
        controller.enqueue(chunk.data);
        at += length;
      }
      if (at >= end) controller.close();
    },
  });
}

/** Resolves an index like `slice`: negative values count from the end, and the result is within the blob. */
function clampIndex(index: number, size: number): number {
  return Math.min(size, index < 0 ? Math.max(0, size + index) : index);
}
