import { StoreError } from './store-error.ts';
import { checkStoreText } from './store-text.ts';
import { utf8Length } from '../json/utf8-length.ts';

/** Ids that clients choose become keys in every store, so all of them refuse the same ones. */
export function checkStoreId(what: string, id: string): void {
  // No character takes more than three bytes for each of its places, so that a short id needs no counting.
  const bytes = id.length * 3 > 256 ? utf8Length(id) : id.length;
  if (bytes < 1 || bytes > 256) {
    throw new StoreError(
      'invalid',
      `${what} has ${bytes} bytes, and an id has 1 to 256. Use a shorter one, or a hash.`,
    );
  }
  checkStoreText(what, id);
}
