import { StoreError } from '@intertie/core';

/** Postgres timestamps start in 4713 BC. Year 0 of `Date` is 1 BC. */
const firstTime = Date.UTC(-4712, 0);

/** Converts a time to a parameter for `fromMilliseconds`, which is faster to write and parse than an ISO string. */
export function toMilliseconds(date: Date): number {
  const time = date.getTime();
  if (time >= firstTime) return time;
  const fix = 'Use a date after 4713 BC, the earliest that Postgres can store.';
  throw new StoreError('invalid', `createdAt ${date.toISOString()} is out of range. ${fix}`);
}

/** SQL for the timestamp of an int8 in milliseconds. Adds hours separately, because a large interval would be rounded. */
export function fromMilliseconds(ms: string): string {
  const hours = `${ms} / 3600000 * interval '1 hour'`;
  return `(timestamptz 'epoch' + ${hours} + ${ms} % 3600000 * interval '1 millisecond')`;
}
