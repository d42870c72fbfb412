import type { AgentEvent, Tape } from '@intertie/core';
import { CANONICAL, TAPE_VERSION } from '@intertie/core/internal';
import type { RunSnapshot } from '../../inspect-types.ts';
import { EventClock } from '../timeline/event-clock.ts';

/** Creates a tape of a run, with times relative to its first event. */
export function createTape(
  { entries, frames }: Pick<RunSnapshot, 'entries' | 'frames'>,
  title?: string,
): Tape<AgentEvent> {
  const clock = new EventClock((index) => frames[index]?.at);
  let startedAt: number | undefined;
  const items = entries.map(({ event }) => {
    const at = clock.getTime(event);
    startedAt ??= at;
    return { t: at - startedAt, item: event };
  });
  const header = {
    tape: TAPE_VERSION as 1,
    dialect: CANONICAL,
    ...(startedAt && { createdAt: new Date(startedAt).toISOString() }),
    ...(title !== undefined && { title }),
  };
  return { header, items };
}
