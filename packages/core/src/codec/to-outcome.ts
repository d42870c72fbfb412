import type { End } from './codec.ts';
import type { Outcome } from '../event/outcome.ts';

/** Picks the outcome fields of an event. */
export function toOutcome(end: Outcome): Outcome {
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

/** Outcome of a run whose source sent no `run-end`. The connection was cut, so `eof` is not a success. */
export function toInterruptedOutcome(end: End): Outcome {
  switch (end.reason) {
    case 'eof':
      return { outcome: 'error', error: { message: 'The stream ended before the run did.', code: 'truncated' } };
    case 'aborted': {
      const { by, message: reason } = end;
      return { outcome: 'aborted', ...(by && { by }), ...(reason !== undefined && { reason }) };
    }
    case 'error':
      return { outcome: 'error', error: end.error };
  }
}
