import { isStoreText } from './store-text.ts';
import { utf8Length } from '../json/utf8-length.ts';

declare const brand: unique symbol;

/** The tenancy key of everything that is stored: a principal's id. Foreign and absent look the same. */
export type Scope = string & { readonly [brand]: 'Scope' };

/** The scope of a store that was opened without one. */
export const localScope: Scope = 'local' as Scope;

/** Makes a scope of a principal's id. */
export function toScope(id: string): Scope {
  const bytes = utf8Length(id);
  if (bytes < 1 || bytes > 256) {
    throw new RangeError(
      `A scope is 1 to 256 bytes long, this one has ${bytes}. Use the principal's id, or a hash of it.`,
    );
  }
  if (!isStoreText(id)) {
    throw new RangeError("A scope holds no NUL and no half of a surrogate pair. Use a hash of the principal's id.");
  }
  return id as Scope;
}
