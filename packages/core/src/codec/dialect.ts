import type { Codec } from './codec.ts';
import type { AgentEvent } from '../event/event.ts';
import type { Loss, OnLoss } from '../json/loss.ts';
import type { RunInput } from '../event/run-input.ts';

/** Rule of a dialect: the invariant in one sentence, and how to fix a violation. */
export type Rule = { id: string; sentence: string; fix: string };

/** Broken rule. `index` is that of the item, or the number of items if the end of the stream is wrong. */
export type Violation = { index: number; rule: string; message: string; path?: string };

/** Checks a stream of items against the rules of a dialect. Synchronous, like a codec. */
export interface Checker {
  feed(item: unknown, report: Report): void;
  end(report: Report): void;
}
/** Receives the findings of a `Checker`. */
export interface Report {
  violation(rule: string, message: string, path?: string): void;
  loss(loss: Loss): void;
}

/** Describes a protocol: its rules, and how to detect, check, decode and encode it. */
export interface Dialect<Item = unknown> {
  readonly name: string;
  readonly rules: readonly Rule[];
  /** Whether a first item looks like this dialect. */
  detect(item: unknown): boolean;
  /** Returns the kind of an item, for counting. */
  getKind(item: unknown): string;
  checker(): Checker;
  decoder?(run: RunInput, onLoss: OnLoss): Codec<Item, AgentEvent>;
  encoder?(run: RunInput, onLoss: OnLoss): Codec<AgentEvent, Item>;
}
