import type { AgentEvent, EventOf } from '@intertie/core';
import { metadataKey } from '../../shared/intertie-metadata.ts';

export interface RunEndOptions {
  /** Whether the run continued a message that had waited for something. */
  isContinuation: boolean;
  /** Sequence number at which a live run waits. The next stream starts after it. */
  seq?: number;
}

/**
 * Prepends what the run waits for to its end, as message metadata. The chat sends it back with the message, and the handler
 * then separates new answers from those of earlier runs.
 */
export function toRunEndEvents(event: EventOf<'run-end'>, { isContinuation, seq }: RunEndOptions): AgentEvent[] {
  const waitingFor = event.outcome === 'paused' ? event.waitingFor : [];
  const metadata = { [metadataKey]: { waitingFor, ...(seq !== undefined && { seq }) } };
  return waitingFor.length > 0 || isContinuation ? [{ type: 'metadata', metadata }, event] : [event];
}
