import type { Codec } from '../codec/codec.ts';
import type { AgentEvent } from '../event/event.ts';
import type { TapeItem } from './tape.ts';

/** Position of a run on its tape. */
export interface ReplayedTape {
  /** Index of the first item that was not decoded. */
  index: number;
  /** Events of the decoded items that the log lacks. */
  pending: AgentEvent[];
}

const ID_FIELDS = ['id', 'toolCallId', 'agentId', 'stepId', 'questionId'] as const;

/**
 * Decodes a tape up to the last event of the log. Returns undefined if the tape does not produce the events of the log. `codec` must
 * create the same ids as the codec of the logged run. Events are compared by type and ids, since a log can contain merged deltas,
 * stored files and no reasoning.
 */
export function replayLogged(
  items: readonly TapeItem<unknown>[],
  codec: Codec<unknown, AgentEvent>,
  log: readonly AgentEvent[],
): ReplayedTape | undefined {
  // A delta without its text (`storeReasoning`) has no length, so the event before it gives the position.
  const last = log.findLast((event) => toKey(event) !== undefined && measure(event) > 0);
  const key = last && toKey(last);
  let missing = log.reduce((sum, event) => (toKey(event) === key ? sum + measure(event) : sum), 0);
  const pending: AgentEvent[] = [];
  const collect = (event: AgentEvent): void => {
    if (missing === 0) return void pending.push(event);
    if (toKey(event) !== key) return;
    const size = measure(event);
    // The log can end within a delta, if its writer splits large ones.
    if ('delta' in event && size > missing) pending.push({ ...event, delta: event.delta.slice(missing) });
    missing = Math.max(0, missing - size);
  };
  codec.flush?.(collect);
  let index = 0;
  for (const { item } of items) {
    if (missing === 0) break;
    codec.feed(item, collect);
    index += 1;
  }
  return missing === 0 ? { index, pending } : undefined;
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
