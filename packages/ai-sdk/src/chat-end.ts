import type { AgentEvent, EventOf, Fault } from '@intertie/core';
import { slotKey } from './intertie-slot.ts';

/** What a chat is told of an error that ended a run, if nobody says otherwise. */
export function messageOf({ message }: Fault): string {
  return message;
}

/** What is beside the message (a provider's response, a stack) is for the server's log and not for the page. */
export function shownFault(error: Fault, errorText: (error: Fault) => string): Fault {
  const { data: _, ...fault } = error;
  return { ...fault, message: errorText(error) };
}

export interface ChatEndOptions {
  /** Whether the run went on with a message that had waited for something. */
  isContinuation: boolean;
  errorText: (error: Fault) => string;
  /** Where in its log a run waits that is not over: its next stream begins behind it. */
  seq?: number;
}

/**
 * The end of a run, as a chat is told it: what the page answers next is told apart by what the run waits for from what it
 * has answered before.
 */
export function chatEnd(event: EventOf<'run-end'>, { isContinuation, errorText, seq }: ChatEndOptions): AgentEvent[] {
  const waitingFor = event.outcome === 'paused' ? event.waitingFor : [];
  const slot = { waitingFor, ...(seq !== undefined && { seq }) };
  const end = event.outcome === 'error' ? { ...event, error: shownFault(event.error, errorText) } : event;
  const isSaid = waitingFor.length > 0 || isContinuation;
  return isSaid ? [{ type: 'metadata', metadata: { [slotKey]: slot } }, end] : [end];
}
