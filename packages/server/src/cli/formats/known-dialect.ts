import type { Dialect } from '@intertie/core';

/** What the first item of a run says of it, as far as it does. Times are milliseconds since 1970. */
export type RunNames = { runId?: string; threadId?: string; messageId?: string; startedAt?: number };

/** A dialect, and what a program needs to know to meet its streams in the wild. */
export interface KnownDialect {
  dialect: Dialect;
  /** What it is, for people: “AG-UI events (RUN_STARTED, TEXT_MESSAGE_CONTENT, …)”. */
  title: string;
  /** Whether an item may be one of this dialect. Several items decide together. */
  looksLike(item: unknown): boolean;
  /** Whether another run begins here, where the one before it is over. */
  startsRun(item: unknown): boolean;
  /** Whether its rules see the end of a run here; what `startsRun` after it is then judged by itself. */
  endsRun?(item: unknown): boolean;
  namesOf(item: unknown): RunNames;
  /** When the wire says that it happened. */
  timeOf(item: unknown): number | undefined;
}
