import type { Codec } from './codec.ts';
import type { AgentEvent } from '../event/event.ts';
import type { Loss, OnLoss } from '../json/loss.ts';
import type { RunInput } from '../event/run-input.ts';

/** A rule of a dialect: what holds, in a sentence, and what to do where it does not. */
export type Rule = { id: string; sentence: string; fix: string };

/** A place where a rule is broken. `index` is the item's, or the number of items where the end itself is wrong. */
export type Violation = { index: number; rule: string; message: string; path?: string };

/** Reads a stream of items and reports. Synchronous, as a codec is. */
export interface Checker {
  feed(item: unknown, report: Report): void;
  end(report: Report): void;
}
export interface Report {
  violation(rule: string, message: string, path?: string): void;
  loss(loss: Loss): void;
}

/** A protocol as data: its rules, how it is recognised, how it is checked, read and written. */
export interface Dialect<Item = unknown> {
  readonly name: string;
  readonly rules: readonly Rule[];
  /** Whether a first item looks like this dialect. */
  detect(item: unknown): boolean;
  /** The name of an item's kind, for counting. */
  getKind(item: unknown): string;
  checker(): Checker;
  decoder?(run: RunInput, onLoss: OnLoss): Codec<Item, AgentEvent>;
  encoder?(run: RunInput, onLoss: OnLoss): Codec<AgentEvent, Item>;
}
