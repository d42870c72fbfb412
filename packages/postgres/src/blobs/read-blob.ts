import type { ByteRange, Scope } from '@intertie/core/store';

import type { Database } from '../database.ts';

const chunkBytes = 256 * 1024;

/**
 * The bytes as a stream of pieces, each read when it is asked for: the column is not compressed, so that the database
 * reads no more than the piece. Null where there are no bytes.
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
  let at = place(range.start, row.size);
  const end = place(range.end ?? row.size, row.size);
  return new ReadableStream({
    async pull(controller) {
      if (at < end) {
        const length = Math.min(chunkBytes, end - at);
        const [piece] = await database.query<{ data: Uint8Array }>(
          `select substring(data from $3::int4 for $4::int4) as data from intertie.blobs
           where scope = $1 and sha256 = decode($2, 'hex') and data is not null`,
          [scope, sha256, at + 1, length],
        );
        if (!piece) throw new Error(`Blob ${sha256} was deleted while it was read. Ask for it again.`);
        controller.enqueue(piece.data);
        at += length;
      }
      if (at >= end) controller.close();
    },
  });
}

/** As in `slice`: from the end where it is negative, and never outside. */
function place(index: number, size: number): number {
  return Math.min(size, index < 0 ? Math.max(0, size + index) : index);
}
