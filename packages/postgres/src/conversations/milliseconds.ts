import { StoreError } from '@intertie/core';

/** With the year 4713 BC every Postgres begins. The year 0 is 1 BC. */
const firstTime = Date.UTC(-4712, 0);

/** A time as a statement takes it, for `fromMilliseconds`: its text takes longer to write, and to read. */
export function toMilliseconds(date: Date): number {
  const time = date.getTime();
  if (time >= firstTime) return time;
  const advice = 'Postgres begins in 4713 BC: use a later one.';
  throw new StoreError('invalid', `createdAt ${date.toISOString()} is out of range. ${advice}`);
}

/** The time, as SQL, of so many milliseconds, an int8. Hours are counted apart, so that distant times are not rounded. */
export function fromMilliseconds(ms: string): string {
  const hours = `${ms} / 3600000 * interval '1 hour'`;
  return `(timestamptz 'epoch' + ${hours} + ${ms} % 3600000 * interval '1 millisecond')`;
}
