import type { AgentEvent } from '../event/event.ts';
import type { OnLoss } from '../json/loss.ts';

/** Says that an event was left out or mended since it does not fit what is known of its run. */
export type Misfit = (event: AgentEvent, id: string | undefined, why: string, kind?: 'repaired' | 'late') => void;

export function misfitsTo(onLoss: OnLoss): Misfit {
  return ({ type: what }, id, why, kind = 'repaired') => onLoss({ kind, what, why, ...(id !== undefined && { id }) });
}
