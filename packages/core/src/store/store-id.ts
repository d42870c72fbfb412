import { StoreError } from './store-error.ts';
import { checkStoreText } from './store-text.ts';
import { utf8Length } from '../json/utf8-length.ts';

/** Checks an id that a client chose. Ids become keys in every store, so all stores refuse the same ones. */
export function checkStoreId(what: string, id: string): void {
  // A UTF-16 unit takes at most three bytes in UTF-8, so a short id needs no counting.
  const bytes = id.length * 3 > 256 ? utf8Length(id) : id.length;
  if (bytes < 1 || bytes > 256) {
    throw new StoreError('invalid', `${what} has ${bytes} bytes. Use an id of 1 to 256 bytes, or a hash.`);
  }
  checkStoreText(what, id);
}
