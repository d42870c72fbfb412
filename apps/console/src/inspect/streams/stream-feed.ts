import type { RunEvents, RunSnapshot } from '../../inspect-types.ts';
import { describeItem } from '../describe-item.ts';
import { isDelta } from '../event-family.ts';
import { throttled } from '../throttled.ts';
import { EventRate } from './event-rate.ts';
import { StreamTable } from './stream-table.ts';
import type { Target } from './target.ts';

/** What the pane shows. A new one for every change; the table in it only ever grows. */
export type StreamView = { table: StreamTable; run: RunSnapshot; rate: number };

export type StreamFeedOptions = {
  /** Whether the target is told what agents say to each other. */
  internal: boolean;
  /** Whether the source's frames have a column. */
  frames: boolean;
};

/** Each time a screen full of rows may be new. */
const drawnMs = 100;

/** The table of a run that goes on, for `useSyncExternalStore`. Only what is new is encoded and checked. */
export class StreamFeed {
  readonly subscribe: RunEvents['subscribe'];
  #events: RunEvents;
  #target: Target;
  #options: StreamFeedOptions;
  #view: StreamView | undefined;
  #rate = new EventRate();

  constructor(events: RunEvents, target: Target, options: StreamFeedOptions) {
    this.#events = events;
    this.#target = target;
    this.#options = options;
    this.subscribe = throttled(events.subscribe, drawnMs);
  }

  readonly snapshot = (): StreamView => {
    const run = this.#events.snapshot();
    if (this.#view?.run === run) return this.#view;
    const table = this.#tableFor(run);
    for (let index = table.events.length; index < run.entries.length; index++) table.feed(run.entries[index]!.event);
    if (table.hasFrames) table.knowFrames(run.frames.length);
    if (run.status === 'ended') table.end();
    this.#rate.note(performance.now(), table.events.length);
    const rate = run.status === 'live' ? this.#rate.now : EventRate.average(table.events);
    this.#view = { table, run, rate };
    return this.#view;
  };

  #tableFor(run: RunSnapshot): StreamTable {
    const hasFrames = this.#options.frames && run.frames.length > 0;
    const before = this.#view;
    const goesOn =
      before !== undefined &&
      before.run.runId === run.runId &&
      before.table.hasFrames === hasFrames &&
      before.table.events.length <= run.entries.length;
    if (goesOn) return before.table;
    this.#rate = new EventRate();
    return new StreamTable(this.#target, {
      hasFrames,
      internal: this.#options.internal,
      isDeltaFrame: (index) => {
        const frame = this.#events.snapshot().frames[index];
        // One that is still on its way is taken for what most are.
        return frame === undefined || isDelta(describeItem(frame.frame).type);
      },
    });
  }
}
