import { toUIMessages } from '@intertie/ai-sdk';
import type { UIMessage } from 'ai';
import { useMemo, useState } from 'react';
import type { LogEntry } from '../inspect-types.ts';
import { RunCursor } from '../run-cursor.ts';

/**
 * The message that the first `count` events of a run make, as a chat shows it. Undefined: there is none yet. A step to the side
 * folds a few events, however long the run is.
 */
export function useFoldedRun(
  entries: readonly LogEntry[],
  { count = entries.length, includeInternal }: { count?: number | undefined; includeInternal: boolean },
): UIMessage | undefined {
  const [cursor] = useState(() => new RunCursor());
  return useMemo(() => {
    cursor.turnTo(entries);
    const message = cursor.messageAt(count);
    return message && toUIMessages([message], { includeInternal })[0];
  }, [cursor, entries, count, includeInternal]);
}
