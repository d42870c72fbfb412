import { useState } from 'react';
import { formatError } from '../../api.ts';
import type { PaneProps } from '../../inspect-types.ts';
import { readRunTape } from './read-run-tape.ts';

/** What was done last, or why it was not. */
export type Said = { text: string; isBad?: true };

/** Opens tapes, and does what may fail: either way it is said. */
export function useTapeFiles(onTape: PaneProps['onTape']): {
  said: Said | undefined;
  attempt: (done: string, act: () => Promise<void>) => void;
  open: (file: File | undefined) => void;
} {
  const [said, setSaid] = useState<Said>();
  const attempt = (done: string, act: () => Promise<void>): void => {
    act().then(
      () => setSaid({ text: done }),
      (error: unknown) => setSaid({ text: formatError(error), isBad: true }),
    );
  };
  const open = (file: File | undefined): void => {
    if (file) attempt(`${file.name} opened.`, async () => onTape(await readRunTape(await file.text())));
  };
  return { said, attempt, open };
}
