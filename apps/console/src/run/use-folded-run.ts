import { toUIMessages } from '@intertie/ai-sdk';
import type { UIMessage } from 'ai';
import { useMemo, useState } from 'react';
import type { LogEntry } from '../inspect-types.ts';
import { RunCursor } from './run-cursor.ts';

/** Folds the first `count` events of a run to a UI message. Undefined if they do not contain a message yet. */
export function useFoldedRun(
  entries: readonly LogEntry[],
  { count = entries.length, includeInternal }: { count?: number | undefined; includeInternal: boolean },
): UIMessage | undefined {
  const [cursor] = useState(() => new RunCursor());
  return useMemo(() => {
    cursor.setEntries(entries);
    const message = cursor.messageAt(count);
    return message && toUIMessages([message], { includeInternal })[0];
  }, [cursor, entries, count, includeInternal]);
}
