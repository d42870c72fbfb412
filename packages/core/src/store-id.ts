import { StoreError } from './store-error.ts';
import { utf8Length } from './utf8-length.ts';

// A half of a surrogate pair on its own: no database stores it in a text, and UTF-8 cannot say it.
const unspeakable = /\0|\p{Surrogate}/u;

/** Ids that clients choose become keys in every store, so all of them refuse the same ones. */
export function checkStoreId(what: string, id: string): void {
  const bytes = utf8Length(id);
  if (bytes < 1 || bytes > 256) {
    throw new StoreError(
      'invalid',
      `${what} has ${bytes} bytes, and an id has 1 to 256. Use a shorter one, or a hash.`,
    );
  }
  if (unspeakable.test(id)) {
    throw new StoreError('invalid', `${what} holds a NUL or half of a surrogate pair. Use another id, or encode it.`);
  }
}
