import type { Json } from '../json/json.ts';

export type StoreErrorCode =
  /** No such thread or message in this scope. Foreign and absent look the same. */
  | 'not-found'
  /** The input cannot be stored; the message says which field and what to do. */
  | 'invalid'
  /** `expectedVersion` was not the thread's version. */
  | 'version-conflict'
  /** A text of the message neither extends the stored one nor is a prefix of it; nothing was written. */
  | 'content-conflict'
  /** The operation key was used with another body. */
  | 'key-reused'
  /** The message belongs to a live run, which alone writes it. */
  | 'busy';

/** What a store refuses, with the reason as a code that programs can act on. */
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
