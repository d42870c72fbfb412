import { createStreamChecker, type StreamChecker } from '@intertie/conformance';
import type { Rule } from '@intertie/core';
import { frameRules } from '../formats/frame.ts';
import type { Protocol } from '@intertie/core';
import { LossReport } from '../convert/loss-report.ts';
import type { Entry } from '../input/open-stream.ts';

/** Place where a rule is violated. */
export type Finding = {
  /** Number of the item, from one; undefined for violations at the end of the stream. */
  item: number | undefined;
  line: number | undefined;
  message: string;
  path?: string;
  /** Text of the item, and of the one before it. */
  text: string;
  before: string;
};

export type BrokenRule = Rule & { count: number; findings: Finding[] };

const maxText = 2000;

/**
 * Checks an input of any length: counts all violations and stores the first places of each rule. Consecutive streams of an
 * input are checked separately.
 */
export class StreamCheck {
  readonly lossReport: LossReport = new LossReport();
  readonly kinds: Map<string, number> = new Map();
  readonly broken: Map<string, BrokenRule> = new Map();
  items = 0;
  streams = 0;
  #known: Protocol;
  #maxFindings: number;
  #running: StreamChecker | undefined;
  #isEnded = false;
  #last: Entry | undefined;

  constructor(known: Protocol, maxFindings: number) {
    this.#known = known;
    this.#maxFindings = maxFindings;
  }

  get violations(): number {
    return [...this.broken.values()].reduce((sum, { count }) => sum + count, 0);
  }

  feed(entry: Entry): void {
    if (entry.type === 'done') return this.#finish();
    if (entry.type === 'problem') this.#add(frameRules[entry.problem], entry.message, entry);
    else this.#feedItem(entry);
    this.#last = entry;
  }

  end(): void {
    // The rules apply to an empty input too.
    if (this.streams === 0) this.#start();
    this.#finish();
  }

  #feedItem(entry: Extract<Entry, { type: 'item' }>): void {
    const { item } = entry;
    if (this.#isEnded && this.#known.startsRun?.(item)) this.#finish();
    const running = this.#running ?? this.#start();
    const kind = this.#known.getKind(item);
    this.kinds.set(kind, (this.kinds.get(kind) ?? 0) + 1);
    this.items += 1;
    running.feed(item);
    this.#collect(running, entry);
    if (entry.cut) this.#add(frameRules.cut, 'There is no blank line after the last event.', entry);
    this.#isEnded ||= this.#known.endsRun?.(item) === true;
  }

  #start(): StreamChecker {
    this.streams += 1;
    this.#isEnded = false;
    return (this.#running = createStreamChecker(this.#known));
  }

  #finish(): void {
    const running = this.#running;
    if (!running) return;
    running.end();
    this.#collect(running, undefined);
    this.#running = undefined;
  }

  /** Moves violations and losses out of the checker after each item, so that memory does not grow with the input. */
  #collect({ report }: StreamChecker, entry: Entry | undefined): void {
    for (const { rule, sentence, fix, message, path } of report.violations.splice(0)) {
      this.#add({ id: rule, sentence, fix }, message, entry, path);
    }
    for (const loss of report.losses.splice(0)) this.lossReport.add(loss);
  }

  #add(rule: Rule, message: string, entry: Entry | undefined, path?: string): void {
    const broken = this.broken.get(rule.id) ?? { ...rule, count: 0, findings: [] };
    this.broken.set(rule.id, broken);
    broken.count += 1;
    if (broken.findings.length >= this.#maxFindings) return;
    broken.findings.push({
      item: entry?.type === 'item' ? this.items : undefined,
      line: entry?.line,
      message,
      ...(path !== undefined && { path }),
      text: getEntryText(entry),
      before: getEntryText(this.#last),
    });
  }
}

function getEntryText(entry: Entry | undefined): string {
  if (!entry || entry.type === 'done') return '';
  const text = entry.type === 'problem' ? entry.text : (entry.text ?? JSON.stringify(entry.item) ?? '');
  return text.length > maxText ? `${text.slice(0, maxText)}…` : text;
}
