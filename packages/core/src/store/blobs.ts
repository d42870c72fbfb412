import type { Scope } from './scope.ts';

export type BlobInfo = { sha256: string; size: number; mediaType?: string; url?: string };
/** Bytes from `start` to `end`, `end` left out, as in `slice`. */
export type ByteRange = { start: number; end?: number };

/** Bytes by their hash, per scope: a hash is not a capability, and one scope cannot ask what another has. */
export interface Blobs {
  /** Puts bytes, or notes where they lie. Repeating it is harmless and renews the time for which it is kept. */
  put(scope: Scope, blob: { data: Uint8Array; mediaType?: string } | (BlobInfo & { url: string })): Promise<BlobInfo>;
  info(scope: Scope, sha256: string): Promise<BlobInfo | null>;
  /** Null where the scope has no such blob, or has only its URL. */
  get(scope: Scope, sha256: string, range?: ByteRange): Promise<ReadableStream<Uint8Array> | null>;
  /** Notes that a message refers to the blob, so that `collect` leaves it. */
  refer(scope: Scope, sha256: string, message: { threadId: string; messageId: string }): Promise<boolean>;
  /** Renews the time for which an unreferenced blob is kept. False where there is none. */
  touch(scope: Scope, sha256: string): Promise<boolean>;
  /** Deletes blobs without references that were touched at least `minAgeMs` ago, by the store's clock. Returns their number. */
  collect(minAgeMs: number, limit?: number): Promise<number>;
}
