import { CANONICAL, TAPE_VERSION, type AgentEvent, type Tape } from '@intertie/core';
import type { RunSnapshot } from '../../inspect-types.ts';
import { EventClock } from '../timeline/event-clock.ts';

/** The run as a tape, at the times at which its events were. */
export function tapeOfRun(
  { entries, frames }: Pick<RunSnapshot, 'entries' | 'frames'>,
  title?: string,
): Tape<AgentEvent> {
  const clock = new EventClock((index) => frames[index]?.at);
  let began: number | undefined;
  const items = entries.map(({ event }) => {
    const at = clock.timeOf(event);
    began ??= at;
    return { t: at - began, item: event };
  });
  const header = {
    tape: TAPE_VERSION as 1,
    dialect: CANONICAL,
    ...(began && { createdAt: new Date(began).toISOString() }),
    ...(title !== undefined && { title }),
  };
  return { header, items };
}
