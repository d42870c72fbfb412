import type { Codec } from '../codec/codec.ts';
import { findLoggedPosition } from '../codec/logged-position.ts';
import type { AgentEvent } from '../event/event.ts';
import type { TapeItem } from './tape.ts';

/** Position of a run on its tape. */
export interface ReplayedTape {
  /** Index of the first item that was not decoded. */
  index: number;
  /** Events of the decoded items that the log lacks. */
  pending: AgentEvent[];
}

/**
 * Decodes a tape up to the last event of the log. Returns undefined if the tape does not produce the events of the log. `codec` must
 * create the same ids as the codec of the logged run.
 */
export function replayLogged(
  items: readonly TapeItem<unknown>[],
  codec: Codec<unknown, AgentEvent>,
  log: readonly AgentEvent[],
): ReplayedTape | undefined {
  const position = findLoggedPosition(log);
  const pending: AgentEvent[] = [];
  const collect = (event: AgentEvent): void => {
    const rest = position.skip(event);
    if (rest) pending.push(rest);
  };
  codec.flush?.(collect);
  let index = 0;
  for (const { item } of items) {
    if (position.isReached) break;
    codec.feed(item, collect);
    index += 1;
  }
  return position.isReached ? { index, pending } : undefined;
}
