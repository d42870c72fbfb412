import type { Json } from '../json/json.ts';

export type StoreErrorCode =
  /** The scope has no such thread or message. Also returned for objects of another scope. */
  | 'not-found'
  /** The input cannot be stored; the message names the field and the fix. */
  | 'invalid'
  /** `expectedVersion` is not the thread's version. */
  | 'version-conflict'
  /** A text of the message neither extends the stored one nor is a prefix of it; nothing was written. */
  | 'content-conflict'
  /** The operation key was used with another body. */
  | 'key-reused'
  /** The message belongs to a live run, and only that may write it. */
  | 'busy';

/** Reports that a store refused a request. Programs act on `code`. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;
  readonly data: Json | undefined;

  constructor(code: StoreErrorCode, message: string, data?: Json) {
    super(message);
    this.code = code;
    this.data = data;
  }
}
