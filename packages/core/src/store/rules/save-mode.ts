import type { SaveMessages } from '../store.ts';
import { StoreError } from '../store-error.ts';

export type SaveMode = NonNullable<SaveMessages['mode']>;

/** Reads the mode of a save. Without a version, a replacement could overwrite a change that its author has not seen. */
export function readSaveMode({
  mode = 'merge',
  expectedVersion,
}: Pick<SaveMessages, 'mode' | 'expectedVersion'>): SaveMode {
  if (mode !== 'merge' && mode !== 'replace') {
    throw new StoreError('invalid', `mode is ${JSON.stringify(mode)}. Use 'merge' or 'replace'.`);
  }
  if (mode === 'replace' && expectedVersion === undefined) {
    const text = `mode: 'replace' needs expectedVersion. Read the thread's version with getVersion, then the message, then save.`;
    throw new StoreError('invalid', text);
  }
  return mode;
}
