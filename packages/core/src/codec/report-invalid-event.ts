import type { AgentEvent } from '../event/event.ts';
import type { OnLoss } from '../json/loss.ts';

/** Reports that an event was dropped or repaired because it contradicts the known state of its run. */
export type ReportInvalidEvent = (
  event: AgentEvent,
  id: string | undefined,
  why: string,
  kind?: 'repaired' | 'late',
) => void;

/** Creates a reporter that sends its reports to `onLoss`. */
export function createInvalidEventReporter(onLoss: OnLoss): ReportInvalidEvent {
  return ({ type: what }, id, why, kind = 'repaired') => onLoss({ kind, what, why, ...(id !== undefined && { id }) });
}
