import type { AgentEvent, EventOf } from '@intertie/core';
import { metadataKey } from '../../shared/intertie-metadata.ts';

export interface ChatEndOptions {
  /** Whether the run went on with a message that had waited for something. */
  isContinuation: boolean;
  /** Where in its log a run waits that is not over: its next stream begins behind it. */
  seq?: number;
}

/**
 * The end of a run, as a chat is told it: what the page answers next is told apart by what the run waits for from what it
 * has answered before.
 */
export function chatEnd(event: EventOf<'run-end'>, { isContinuation, seq }: ChatEndOptions): AgentEvent[] {
  const waitingFor = event.outcome === 'paused' ? event.waitingFor : [];
  const slot = { waitingFor, ...(seq !== undefined && { seq }) };
  const isSaid = waitingFor.length > 0 || isContinuation;
  return isSaid ? [{ type: 'metadata', metadata: { [metadataKey]: slot } }, event] : [event];
}
