import type { Dialect } from '@intertie/core';

/** Ids and start time that the first item of a run contains. Times are milliseconds since 1970. */
export type RunIds = { runId?: string; threadId?: string; messageId?: string; startedAt?: number };

/** Dialect with functions to recognize its streams in an unknown input. */
export interface KnownDialect {
  dialect: Dialect;
  /** Description for users. */
  title: string;
  /** Whether an item may belong to this dialect. Detection combines the results of several items. */
  looksLike(item: unknown): boolean;
  /** Whether the item starts a run, if the previous run has ended. */
  startsRun(item: unknown): boolean;
  /** Whether the item ends a run. Items after the next `startsRun` are checked as a separate stream. */
  endsRun?(item: unknown): boolean;
  readRunIds(item: unknown): RunIds;
  /** Timestamp of the item, if it has one. */
  readTime(item: unknown): number | undefined;
}
