import { asFields, asNonEmptyText } from '../json/fields.ts';
import type { RunIds } from './protocol.ts';

/** Returns the `type` of an item; empty if it has none. */
export const getItemType = (item: unknown): string => asNonEmptyText(asFields(item).type) ?? '';

/** Reads a time in milliseconds since 1970 from a number or a date text. */
export function readItemTime(value: unknown): number | undefined {
  const time = typeof value === 'string' ? Date.parse(value) : value;
  return typeof time === 'number' && Number.isFinite(time) ? time : undefined;
}

/** Selects the ids that are not empty, and the start time. */
export function toRunIds({ at, ...ids }: { [name in Exclude<keyof RunIds, 'startedAt'> | 'at']?: unknown }): RunIds {
  const startedAt = readItemTime(at);
  const named = Object.entries(ids).filter(([, id]) => asNonEmptyText(id) !== undefined);
  return { ...(Object.fromEntries(named) as RunIds), ...(startedAt && { startedAt }) };
}
