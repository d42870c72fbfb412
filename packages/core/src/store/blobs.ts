import type { Scope } from './scope.ts';

export type BlobInfo = { sha256: string; size: number; mediaType?: string; url?: string };
/** Range of bytes; `end` is exclusive, as in `slice`. */
export type ByteRange = { start: number; end?: number };

/** Bytes by their hash, separate per scope: a hash grants no access, and a scope cannot find out which blobs another has. */
export interface Blobs {
  /** Stores bytes, or the URL at which they are. Can be repeated; renews the retention time. */
  put(scope: Scope, blob: { data: Uint8Array; mediaType?: string } | (BlobInfo & { url: string })): Promise<BlobInfo>;
  info(scope: Scope, sha256: string): Promise<BlobInfo | null>;
  /** Returns null if the scope has no such blob, or only its URL. */
  get(scope: Scope, sha256: string, range?: ByteRange): Promise<ReadableStream<Uint8Array> | null>;
  /** Records that a message refers to the blob, so that `collect` does not delete it. */
  addReference(scope: Scope, sha256: string, message: { threadId: string; messageId: string }): Promise<boolean>;
  /** Renews the retention time of an unreferenced blob. Returns false if there is no such blob. */
  touch(scope: Scope, sha256: string): Promise<boolean>;
  /** Deletes blobs without references that were touched at least `minAgeMs` ago, by the store's clock. Returns their number. */
  collect(minAgeMs: number, limit?: number): Promise<number>;
}
