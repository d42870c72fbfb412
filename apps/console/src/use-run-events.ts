import { useEffect, useState } from 'react';
import type { RunEvents } from './inspect-types.ts';
import { followRun, noRun } from './run-events.ts';

/** The events of a run, as long as somebody looks. */
export function useRunEvents(runId: string | undefined, threadId: string, isLookedAt: boolean): RunEvents {
  const [events, setEvents] = useState<RunEvents>(noRun);
  useEffect(() => {
    if (runId === undefined || !isLookedAt) {
      setEvents(noRun);
      return undefined;
    }
    const followed = followRun(runId, threadId);
    setEvents(followed);
    return () => followed.close();
  }, [runId, threadId, isLookedAt]);
  return events;
}
