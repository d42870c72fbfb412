import type { AgentEvent } from '../event/event.ts';

const ID_FIELDS = ['id', 'toolCallId', 'agentId', 'stepId', 'questionId', 'code'] as const;

/** Position of a run that is read again from its start: which of its events the log contains. */
export interface LoggedPosition {
  /** Whether the last event of the log has been seen. Events after it are new. */
  readonly isReached: boolean;
  /** Returns the part of the event that the log lacks, or undefined if the log contains the event. */
  skip(event: AgentEvent): AgentEvent | undefined;
}

/**
 * Finds the last event of a log in the same events, produced again with the same ids. Events are compared by type and ids, since a
 * log can contain merged deltas, stored files and no reasoning.
 */
export function findLoggedPosition(log: readonly AgentEvent[]): LoggedPosition {
  // A delta without its text (`storeReasoning`) has no length, so the event before it gives the position.
  const last = log.findLast((event) => toKey(event) !== undefined && measure(event) > 0);
  const key = last && toKey(last);
  let missing = last ? log.reduce((sum, event) => (toKey(event) === key ? sum + measure(event) : sum), 0) : 0;
  return {
    get isReached() {
      return missing === 0;
    },
    skip(event) {
      if (missing === 0) return event;
      if (toKey(event) !== key) return undefined;
      const size = measure(event);
      const logged = Math.min(size, missing);
      missing -= logged;
      // The log can end within a delta, if its writer splits large ones.
      return 'delta' in event && size > logged ? { ...event, delta: event.delta.slice(logged) } : undefined;
    },
  };
}

/** Returns the identity of an event of the source. Returns undefined for an event that a takeover or a checkpoint adds to the log. */
function toKey(event: AgentEvent): string | undefined {
  if (event.type === 'checkpoint' || (event.type === 'notice' && event.code === 'recovered')) return undefined;
  const fields: { [key: string]: unknown } = event;
  return JSON.stringify([event.type, ...ID_FIELDS.map((name) => fields[name])]);
}

/** Deltas count by length, other events by number. */
function measure(event: AgentEvent): number {
  return 'delta' in event && typeof event.delta === 'string' ? event.delta.length : 1;
}
