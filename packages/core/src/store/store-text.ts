import { StoreError } from './store-error.ts';

// No database stores NUL or an unpaired surrogate in a text column, and UTF-8 cannot encode the latter. JSON can carry both.
const unsupported = /\0|\p{Surrogate}/u;

/** Whether a database can store the text: no NUL, no unpaired surrogate. */
export function isStoreText(text: string): boolean {
  return !unsupported.test(text);
}

/** Checks a value that is stored as text, not as JSON. Every store refuses a text that one of them could not hold. */
export function checkStoreText(what: string, text: string): void {
  if (isStoreText(text)) return;
  throw new StoreError('invalid', `${what} contains NUL or an unpaired surrogate. Remove that character.`);
}
