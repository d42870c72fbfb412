import { canonical, createStreamChecker, type ReportedViolation, type StreamChecker } from '@intertie/conformance';
import type { AgentEvent, Codec, Loss, Protocol } from '@intertie/core';
import { EventAgents } from '../event-agents.ts';
import { emptyRun } from '../empty-run.ts';

/**
 * Row of the three columns. `frame`, `event` and `target` are the indices of the items that the row shows, at most one of each.
 * `origin` and `cause` are the frame and the event that caused the row, even if an earlier row shows them.
 */
export type StreamRow = { frame?: number; event?: number; target?: number; origin?: number; cause?: number };

/** Cell, by its column and the index of its item. */
export type Cell = { column: 'frame' | 'event' | 'target'; index: number };
type Range = readonly [first: number, last: number];
/** Ranges of items that belong together by cause; a range may be empty. */
export type RelatedItems = { frames: Range; events: Range; targets: Range };

export type LossEntry = { loss: Loss; event: number };

export type StreamTableOptions = {
  /** Whether the table has a column for the source's frames. */
  hasFrames: boolean;
  /** Whether the target includes internal messages between agents. */
  internal: boolean;
  /** Whether a frame is a delta. Delta frames without an event of their own were merged into the previous delta event. */
  isDeltaFrame?: (index: number) => boolean;
};

const emptyRange: Range = [0, -1];

/**
 * Aligns source frames, canonical events and target items in rows, in O(1) per event. A frame is in the row of the first event that
 * it caused, an event in the row of its first target item. Events may arrive before their frames, since both are read over
 * different connections. Frames that have caused no event yet are pending and come last.
 */
export class StreamTable {
  readonly events: AgentEvent[] = [];
  readonly targets: unknown[] = [];
  readonly losses: LossEntry[] = [];
  readonly agents: EventAgents = new EventAgents();
  #rows: StreamRow[] = [];
  #eventAgents: Array<string | undefined> = [];
  /** First target item of each event. The items end before the first one of the next event. */
  #firstTarget: number[] = [];
  /** Event of each target item. */
  #targetCause: number[] = [];
  #rowIndex = { frame: [] as number[], event: [] as number[], target: [] as number[] };
  /** First and last event of each frame. */
  #frameEvents = new Map<number, Range>();
  /** Number of frames that have a row. */
  #placedFrames = 0;
  #frameCount = 0;
  /** Last frame that was merged into an event, if it is not the first. */
  #lastFrame = new Map<number, number>();
  #isDeltaFrame: (index: number) => boolean;
  #encoder: Codec<AgentEvent, unknown>;
  #canonicalCheck: StreamChecker = createStreamChecker(canonical);
  #targetCheck: StreamChecker;
  #violations = { event: new Map<number, ReportedViolation[]>(), target: new Map<number, ReportedViolation[]>() };
  #eventLosses = new Map<number, Loss[]>();
  /** Number of violations of each check that are in `#violations`. */
  #collected = { event: 0, target: 0 };
  #hasEnded = false;
  #openQuestions = new Set<string>();
  #recoveries = 0;
  readonly hasFrames: boolean;

  constructor(target: Protocol, options: StreamTableOptions) {
    this.hasFrames = options.hasFrames;
    this.#isDeltaFrame = options.isDeltaFrame ?? (() => false);
    this.#encoder = target.encoder!(emptyRun, (loss) => this.#addLoss(loss), { includeInternal: options.internal });
    this.#targetCheck = createStreamChecker(target);
  }

  /** Whether the run waits for an answer. */
  get hasOpenQuestion(): boolean {
    return this.#openQuestions.size > 0;
  }

  /** Number of times that another process has continued the run. */
  get recoveries(): number {
    return this.#recoveries;
  }

  get length(): number {
    return this.#rows.length + this.#pendingFrames;
  }

  /** Number of rows with a final position. Pending frames follow them. */
  get settled(): number {
    return this.#rows.length;
  }

  row(index: number): StreamRow {
    const row = this.#rows[index];
    if (row) return row;
    const frame = this.#placedFrames + index - this.#rows.length;
    return { frame, origin: frame };
  }

  /** Returns the index of the row that shows a cell. */
  findRow({ column, index }: Cell): number | undefined {
    if (column === 'frame' && index >= this.#placedFrames) return this.#rows.length + index - this.#placedFrames;
    return this.#rowIndex[column][index];
  }

  feed(event: AgentEvent): void {
    const index = this.events.push(event) - 1;
    this.#eventAgents.push(this.agents.feed(event));
    if (event.type === 'question') this.#openQuestions.add(event.questionId);
    else if (event.type === 'answer') this.#openQuestions.delete(event.questionId);
    else if (event.type === 'notice' && event.code === 'recovered') this.#recoveries += 1;
    this.#firstTarget.push(this.targets.length);
    this.#canonicalCheck.feed(event);
    this.#encoder.feed(event, (item) => this.#addTarget(item, index));
    this.#collectViolations('event', this.#canonicalCheck);
    this.#placeEvent(event, index);
  }

  /** Sets the number of frames that have arrived. */
  setFrameCount(count: number): void {
    this.#frameCount = Math.max(this.#frameCount, count);
  }

  /** Ends the checks, which may find violations at the end of the run. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#canonicalCheck.end();
    this.#targetCheck.end();
    this.#collectViolations('event', this.#canonicalCheck);
    this.#collectViolations('target', this.#targetCheck);
  }

  getAgent(event: number): string | undefined {
    return this.#eventAgents[event];
  }

  getViolations({ column, index }: Cell): readonly ReportedViolation[] {
    return (column === 'frame' ? undefined : this.#violations[column].get(index)) ?? [];
  }

  /** Returns the indices of the items with violations. */
  getViolatingItems(column: 'event' | 'target'): number[] {
    return [...this.#violations[column].keys()];
  }

  get violations(): { readonly event: readonly ReportedViolation[]; readonly target: readonly ReportedViolation[] } {
    return { event: this.#canonicalCheck.report.violations, target: this.#targetCheck.report.violations };
  }

  getLosses(event: number): readonly Loss[] {
    return this.#eventLosses.get(event) ?? [];
  }

  /** Returns the range of target items of an event. */
  getTargets(event: number): Range {
    const first = this.#firstTarget[event];
    if (first === undefined) return emptyRange;
    return [first, (this.#firstTarget[event + 1] ?? this.targets.length) - 1];
  }

  /** Returns the items that caused a cell and the items that it caused. */
  getRelated({ column, index }: Cell): RelatedItems {
    if (column === 'frame') {
      const events = this.#frameEvents.get(index) ?? emptyRange;
      return { frames: [index, index], events, targets: this.#getTargetsOfRange(events) };
    }
    const event = column === 'event' ? index : this.#targetCause[index];
    if (event === undefined) return { frames: emptyRange, events: emptyRange, targets: emptyRange };
    const origin = this.events[event]?.origin;
    return {
      frames: origin === undefined ? emptyRange : [origin, this.#lastFrame.get(event) ?? origin],
      events: [event, event],
      targets: column === 'event' ? this.getTargets(event) : [index, index],
    };
  }

  get #pendingFrames(): number {
    return this.hasFrames ? Math.max(0, this.#frameCount - this.#placedFrames) : 0;
  }

  #addLoss(loss: Loss): void {
    const event = Math.max(0, this.events.length - 1);
    this.losses.push({ loss, event });
    this.#eventLosses.set(event, [...this.getLosses(event), loss]);
  }

  #addTarget(item: unknown, cause: number): void {
    this.targets.push(item);
    this.#targetCause.push(cause);
    this.#targetCheck.feed(item);
    this.#collectViolations('target', this.#targetCheck);
  }

  #placeEvent(event: AgentEvent, index: number): void {
    const { origin } = event;
    const row: StreamRow = { event: index, cause: index };
    if (origin !== undefined && this.hasFrames) {
      this.#placeFramesBefore(origin, index - 1);
      row.origin = origin;
      if (this.#placedFrames === origin) {
        row.frame = origin;
        this.#placedFrames++;
      }
    }
    if (origin !== undefined) this.#frameEvents.set(origin, [this.#frameEvents.get(origin)?.[0] ?? index, index]);
    const [first, last] = this.getTargets(index);
    if (first <= last) row.target = first;
    this.#addRow(row);
    for (let target = first + 1; target <= last; target++) {
      this.#addRow({ target, cause: index, ...(row.origin !== undefined && { origin: row.origin }) });
    }
  }

  /** Adds a row for each frame without an event. Delta frames after the delta event `last` were merged into it. */
  #placeFramesBefore(origin: number, last: number): void {
    let isMerged = this.events[last]?.type.endsWith('-delta') ?? false;
    for (; this.#placedFrames < origin; this.#placedFrames++) {
      const frame = this.#placedFrames;
      isMerged &&= this.#isDeltaFrame(frame);
      this.#addRow({ frame, origin: frame, ...(isMerged && { cause: last }) });
      if (!isMerged) continue;
      this.#lastFrame.set(last, frame);
      this.#frameEvents.set(frame, [last, last]);
    }
  }

  #addRow(row: StreamRow): void {
    const position = this.#rows.push(row) - 1;
    for (const column of ['frame', 'event', 'target'] as const) {
      const index = row[column];
      if (index !== undefined) this.#rowIndex[column][index] = position;
    }
  }

  #getTargetsOfRange([first, last]: Range): Range {
    return first > last ? emptyRange : [this.getTargets(first)[0], this.getTargets(last)[1]];
  }

  /** Assigns new violations to their items. A violation after the end belongs to the last item. */
  #collectViolations(column: 'event' | 'target', { report }: StreamChecker): void {
    const items = column === 'event' ? this.events.length : this.targets.length;
    for (; this.#collected[column] < report.violations.length; this.#collected[column]++) {
      const violation = report.violations[this.#collected[column]]!;
      const index = Math.max(0, Math.min(violation.index, items - 1));
      const known = this.#violations[column].get(index);
      if (known) known.push(violation);
      else this.#violations[column].set(index, [violation]);
    }
  }
}

export const isInRange = (index: number | undefined, [first, last]: Range): boolean =>
  index !== undefined && index >= first && index <= last;
