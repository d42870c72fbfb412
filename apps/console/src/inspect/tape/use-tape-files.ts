import { useState } from 'react';
import { formatError } from '../../api.ts';
import type { PaneProps } from '../../inspect-types.ts';
import { readRunTape } from './read-run-tape.ts';

/** Result of the last action. */
export type ActionResult = { text: string; isError?: true };

/** Opens tapes and performs other actions that may fail, and reports their result. */
export function useTapeFiles(onTape: PaneProps['onTape']): {
  result: ActionResult | undefined;
  perform: (successText: string, action: () => Promise<void>) => void;
  open: (file: File | undefined) => void;
} {
  const [result, setResult] = useState<ActionResult>();
  const perform = (successText: string, action: () => Promise<void>): void => {
    action().then(
      () => setResult({ text: successText }),
      (error: unknown) => setResult({ text: formatError(error), isError: true }),
    );
  };
  const open = (file: File | undefined): void => {
    if (file) perform(`${file.name} opened.`, async () => onTape(await readRunTape(await file.text())));
  };
  return { result, perform, open };
}
