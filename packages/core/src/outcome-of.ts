import type { EventOf } from './event.ts';
import type { Outcome } from './outcome.ts';

/** How a run ended, without what else its last event says. */
export function outcomeOf(end: EventOf<'run-end'>): Outcome {
  switch (end.outcome) {
    case 'complete':
      return { outcome: 'complete' };
    case 'paused':
      return { outcome: 'paused', waitingFor: end.waitingFor };
    case 'aborted': {
      const { by, reason } = end;
      return { outcome: 'aborted', ...(by && { by }), ...(reason !== undefined && { reason }) };
    }
    case 'error':
      return { outcome: 'error', error: end.error };
  }
}
