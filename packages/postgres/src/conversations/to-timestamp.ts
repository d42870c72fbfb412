import { StoreError } from '@intertie/core';

/** A time as every Postgres reads it, the distant ones too. */
export function toTimestamp(date: Date): string {
  const text = date.toISOString();
  if (/^\d{4}-/.test(text) && !text.startsWith('0000')) return text;
  const [, sign, year, rest] = /^([+-]?)(\d+)-(.*)$/.exec(text) ?? [];
  if (sign === '+') return `${Number(year)}-${rest}`;
  // The year 0 is 1 BC.
  const before = Number(year) + 1;
  if (before > 4713) {
    const advice = 'Postgres begins in 4713 BC: use a later one.';
    throw new StoreError('invalid', `createdAt ${text} is out of range. ${advice}`);
  }
  return `${String(before).padStart(4, '0')}-${rest} BC`;
}
