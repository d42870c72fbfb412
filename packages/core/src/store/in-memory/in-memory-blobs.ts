import type { BlobInfo, Blobs } from '../blobs.ts';
import { sha256 as hash } from '../../json/sha256.ts';
import { StoreError } from '../store-error.ts';
import { findMessage, findThread } from './conversation.ts';
import { partition, type BlobRow, type Tables } from './tables.ts';

const chunkBytes = 256 * 1024;

/** Creates the blobs of all scopes, in memory. */
export function createInMemoryBlobs(tables: Tables): Blobs {
  const find = (...[scope, sha256]: Parameters<Blobs['info']>): BlobRow | undefined =>
    tables.blobs.get(scope)?.get(sha256);

  return {
    async put(scope, blob) {
      const data = 'data' in blob ? new Uint8Array(blob.data) : undefined;
      const sha256 = 'data' in blob ? await hash(data!) : blob.sha256;
      if (!/^[0-9a-f]{64}$/.test(sha256)) {
        throw new StoreError('invalid', `"${sha256}" is not a SHA-256. Pass 64 lowercase hexadecimal digits.`);
      }
      const rows = partition(tables.blobs, scope);
      const row = rows.get(sha256) ?? {
        sha256,
        size: 'data' in blob ? blob.data.length : blob.size,
        touchedAt: 0,
        refs: new Set(),
      };
      rows.set(sha256, row);
      row.touchedAt = tables.now();
      row.mediaType ??= blob.mediaType;
      row.data ??= data;
      if ('url' in blob) row.url ??= blob.url;
      return toInfo(row);
    },

    async info(scope, sha256) {
      const row = find(scope, sha256);
      return row ? toInfo(row) : null;
    },

    async get(scope, sha256, range) {
      const data = find(scope, sha256)?.data?.slice(range?.start, range?.end);
      return data ? toByteStream(data) : null;
    },

    async addReference(scope, sha256, { threadId, messageId }) {
      const row = find(scope, sha256);
      const message = findMessage(findThread(tables, scope, threadId), messageId);
      if (!row || !message) return false;
      row.refs.add(message);
      return true;
    },

    async touch(scope, sha256) {
      const row = find(scope, sha256);
      if (row) row.touchedAt = tables.now();
      return row !== undefined;
    },

    async collect(minAgeMs, limit = Infinity) {
      const untouchedSince = tables.now() - minAgeMs;
      let collected = 0;
      for (const rows of tables.blobs.values()) {
        for (const row of rows.values()) {
          if (collected === limit) return collected;
          if (row.touchedAt >= untouchedSince || isReferenced(row)) continue;
          rows.delete(row.sha256);
          collected += 1;
        }
      }
      return collected;
    },
  };
}

/** References of deleted messages do not count. */
function isReferenced(row: BlobRow): boolean {
  for (const message of row.refs) if (message.deleted) row.refs.delete(message);
  return row.refs.size > 0;
}

function toInfo({ sha256, size, mediaType, url }: BlobRow): BlobInfo {
  return { sha256, size, ...(mediaType !== undefined && { mediaType }), ...(url !== undefined && { url }) };
}

function toByteStream(data: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at < data.length) controller.enqueue(data.slice(at, (at += chunkBytes)));
      if (at >= data.length) controller.close();
    },
  });
}
