import { isStoreText } from './store-text.ts';
import { utf8Length } from '../json/utf8-length.ts';

declare const brand: unique symbol;

/** Tenancy key of all stored data: a principal's id. Data of another scope looks absent. */
export type Scope = string & { readonly [brand]: 'Scope' };

/** Default scope of a store. */
export const localScope: Scope = 'local' as Scope;

/** Checks a principal's id and returns it as a scope. */
export function toScope(id: string): Scope {
  const bytes = utf8Length(id);
  if (bytes < 1 || bytes > 256) {
    throw new RangeError(
      `A scope must have 1 to 256 bytes; this one has ${bytes}. Use the principal's id, or a hash of it.`,
    );
  }
  if (!isStoreText(id)) {
    throw new RangeError("A scope must not contain NUL or an unpaired surrogate. Use a hash of the principal's id.");
  }
  return id as Scope;
}
