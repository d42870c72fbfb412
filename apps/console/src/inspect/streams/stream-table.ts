import { canonical, startCheck, type FoundViolation, type RunningCheck } from '@intertie/conformance';
import type { AgentEvent, Codec, Loss } from '@intertie/core';
import { EventAgents } from '../event-agents.ts';
import { isDelta } from '../event-family.ts';
import type { Target } from './target.ts';

/**
 * A row of the three columns. `frame`, `event` and `target` are what the row shows, by index; a row shows at most one of
 * each. `origin` and `cause` are the frame and the event that it comes from, also where an earlier row shows them.
 */
export type StreamRow = { frame?: number; event?: number; target?: number; origin?: number; cause?: number };

/** Where a row's cell is: the column and the index in it. */
export type Cell = { column: 'frame' | 'event' | 'target'; index: number };
type Range = readonly [first: number, last: number];
/** Indices that belong together by cause; a range may be empty. */
export type Relatives = { frames: Range; events: Range; targets: Range };

export type LedgerLine = { loss: Loss; event: number };

export type StreamTableOptions = {
  /** Whether the source's frames have a column. */
  hasFrames: boolean;
  /** Whether the target is told what agents say to each other. */
  internal: boolean;
  /** Whether a frame only adds to what is being said: those behind a delta without one of their own went into it. */
  isDeltaFrame?: (index: number) => boolean;
};

const none: Range = [0, -1];

/**
 * Source frames, canonical events and the target's items in aligned rows, as they come: O(1) an event. A frame stands beside
 * the first event that it caused, an event beside the first item that it was written as. Events may run ahead of the
 * frames that caused them, since the two come by different roads; frames that have caused nothing yet come last.
 */
export class StreamTable {
  readonly events: AgentEvent[] = [];
  readonly targets: unknown[] = [];
  readonly losses: LedgerLine[] = [];
  readonly agents: EventAgents = new EventAgents();
  #rows: StreamRow[] = [];
  #agentOf: Array<string | undefined> = [];
  /** Of an event: the first item that it was written as. The next event's is where they end. */
  #firstTarget: number[] = [];
  #causeOf: number[] = [];
  #rowOf = { frame: [] as number[], event: [] as number[], target: [] as number[] };
  /** Of a frame: its first and last event. */
  #eventsOf = new Map<number, Range>();
  /** The frames that have their row. */
  #placed = 0;
  #frames = 0;
  /** Of an event: the last frame that went into it, where that is not the first. */
  #lastFrameOf = new Map<number, number>();
  #isDeltaFrame: (index: number) => boolean;
  #encoder: Codec<AgentEvent, unknown>;
  #canonicalCheck: RunningCheck = startCheck(canonical);
  #targetCheck: RunningCheck;
  #faults = { event: new Map<number, FoundViolation[]>(), target: new Map<number, FoundViolation[]>() };
  #lossesOf = new Map<number, Loss[]>();
  #taken = { event: 0, target: 0 };
  #isOver = false;
  readonly hasFrames: boolean;

  constructor(target: Target, options: StreamTableOptions) {
    this.hasFrames = options.hasFrames;
    this.#isDeltaFrame = options.isDeltaFrame ?? (() => false);
    this.#encoder = target.encoder({
      internal: options.internal,
      onLoss: (loss) => this.#lose(loss),
    });
    this.#targetCheck = startCheck(target.dialect);
  }

  get length(): number {
    return this.#rows.length + this.#waiting;
  }

  /** Rows that stay where they are. Those after them are frames that wait for what they cause. */
  get settled(): number {
    return this.#rows.length;
  }

  row(index: number): StreamRow {
    const row = this.#rows[index];
    if (row) return row;
    const frame = this.#placed + index - this.#rows.length;
    return { frame, origin: frame };
  }

  /** Where a cell is. */
  rowOf({ column, index }: Cell): number | undefined {
    if (column === 'frame' && index >= this.#placed) return this.#rows.length + index - this.#placed;
    return this.#rowOf[column][index];
  }

  feed(event: AgentEvent): void {
    const index = this.events.push(event) - 1;
    this.#agentOf.push(this.agents.feed(event));
    this.#firstTarget.push(this.targets.length);
    this.#canonicalCheck.feed(event);
    this.#encoder.feed(event, (item) => this.#addTarget(item, index));
    this.#note('event', this.#canonicalCheck);
    this.#place(event, index);
  }

  /** The frame of that index has come, and all before it. */
  knowFrames(count: number): void {
    this.#frames = Math.max(this.#frames, count);
  }

  /** The run is over: what is owed at its end is found now. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#canonicalCheck.end();
    this.#targetCheck.end();
    this.#note('event', this.#canonicalCheck);
    this.#note('target', this.#targetCheck);
  }

  agentOf(event: number): string | undefined {
    return this.#agentOf[event];
  }

  violationsOf({ column, index }: Cell): readonly FoundViolation[] {
    return (column === 'frame' ? undefined : this.#faults[column].get(index)) ?? [];
  }

  /** The items that break a rule. */
  violatingItems(column: 'event' | 'target'): number[] {
    return [...this.#faults[column].keys()];
  }

  get violations(): { readonly event: readonly FoundViolation[]; readonly target: readonly FoundViolation[] } {
    return { event: this.#canonicalCheck.report.violations, target: this.#targetCheck.report.violations };
  }

  /** What of an event did not get through. */
  lossesOf(event: number): readonly Loss[] {
    return this.#lossesOf.get(event) ?? [];
  }

  /** The items that an event was written as. */
  targetsOf(event: number): Range {
    const first = this.#firstTarget[event];
    if (first === undefined) return none;
    return [first, (this.#firstTarget[event + 1] ?? this.targets.length) - 1];
  }

  /** What a cell comes from and what comes from it. */
  relativesOf({ column, index }: Cell): Relatives {
    if (column === 'frame') {
      const events = this.#eventsOf.get(index) ?? none;
      return { frames: [index, index], events, targets: this.#targetsIn(events) };
    }
    const event = column === 'event' ? index : this.#causeOf[index];
    if (event === undefined) return { frames: none, events: none, targets: none };
    const origin = this.events[event]?.origin;
    return {
      frames: origin === undefined ? none : [origin, this.#lastFrameOf.get(event) ?? origin],
      events: [event, event],
      targets: column === 'event' ? this.targetsOf(event) : [index, index],
    };
  }

  get #waiting(): number {
    return this.hasFrames ? Math.max(0, this.#frames - this.#placed) : 0;
  }

  #lose(loss: Loss): void {
    const event = Math.max(0, this.events.length - 1);
    this.losses.push({ loss, event });
    this.#lossesOf.set(event, [...this.lossesOf(event), loss]);
  }

  #addTarget(item: unknown, cause: number): void {
    this.targets.push(item);
    this.#causeOf.push(cause);
    this.#targetCheck.feed(item);
    this.#note('target', this.#targetCheck);
  }

  #place(event: AgentEvent, index: number): void {
    const { origin } = event;
    const row: StreamRow = { event: index, cause: index };
    if (origin !== undefined && this.hasFrames) {
      this.#placeFramesBefore(origin, index - 1);
      row.origin = origin;
      if (this.#placed === origin) {
        row.frame = origin;
        this.#placed++;
      }
    }
    if (origin !== undefined) this.#eventsOf.set(origin, [this.#eventsOf.get(origin)?.[0] ?? index, index]);
    const [first, last] = this.targetsOf(index);
    if (first <= last) row.target = first;
    this.#add(row);
    for (let target = first + 1; target <= last; target++) {
      this.#add({ target, cause: index, ...(row.origin !== undefined && { origin: row.origin }) });
    }
  }

  /** Frames that caused nothing have a row of their own; those that were joined with a delta are that delta's. */
  #placeFramesBefore(origin: number, last: number): void {
    let isJoined = isDelta(this.events[last]?.type ?? '');
    for (; this.#placed < origin; this.#placed++) {
      const frame = this.#placed;
      isJoined &&= this.#isDeltaFrame(frame);
      this.#add({ frame, origin: frame, ...(isJoined && { cause: last }) });
      if (!isJoined) continue;
      this.#lastFrameOf.set(last, frame);
      this.#eventsOf.set(frame, [last, last]);
    }
  }

  #add(row: StreamRow): void {
    const place = this.#rows.push(row) - 1;
    for (const column of ['frame', 'event', 'target'] as const) {
      const index = row[column];
      if (index !== undefined) this.#rowOf[column][index] = place;
    }
  }

  #targetsIn([first, last]: Range): Range {
    return first > last ? none : [this.targetsOf(first)[0], this.targetsOf(last)[1]];
  }

  /** Files what a check has found since it was last asked. What is wrong at the very end is the last item's. */
  #note(column: 'event' | 'target', { report }: RunningCheck): void {
    const items = column === 'event' ? this.events.length : this.targets.length;
    for (; this.#taken[column] < report.violations.length; this.#taken[column]++) {
      const violation = report.violations[this.#taken[column]]!;
      const index = Math.max(0, Math.min(violation.index, items - 1));
      const known = this.#faults[column].get(index);
      if (known) known.push(violation);
      else this.#faults[column].set(index, [violation]);
    }
  }
}

export const isIn = (index: number | undefined, [first, last]: Range): boolean =>
  index !== undefined && index >= first && index <= last;
