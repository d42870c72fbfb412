import { StoreError } from './store-error.ts';

// Half of a surrogate pair on its own: no database stores it in a text, and UTF-8 cannot say it. JSON keeps both.
const unspeakable = /\0|\p{Surrogate}/u;

/** Whether a text can be one of a database: no NUL, no half of a surrogate pair. */
export function isStoreText(text: string): boolean {
  return !unspeakable.test(text);
}

/** What is kept as a text, not as JSON, is refused by every store where one of them could not hold it. */
export function checkStoreText(what: string, text: string): void {
  if (isStoreText(text)) return;
  throw new StoreError('invalid', `${what} holds a NUL or half of a surrogate pair. Leave that character out.`);
}
