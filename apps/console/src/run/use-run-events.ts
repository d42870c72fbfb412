import { useEffect, useState } from 'react';
import type { RunEvents } from '../inspect-types.ts';
import { followRun, noRun } from './run-events.ts';

/** Follows the events of a run while `isEnabled`. */
export function useRunEvents(runId: string | undefined, threadId: string, isEnabled: boolean): RunEvents {
  const [events, setEvents] = useState<RunEvents>(noRun);
  useEffect(() => {
    if (runId === undefined || !isEnabled) {
      setEvents(noRun);
      return undefined;
    }
    const followed = followRun(runId, threadId);
    setEvents(followed);
    return () => followed.close();
  }, [runId, threadId, isEnabled]);
  return events;
}
