import type { Protocol } from '@intertie/core';
import type { ItemClassifier } from '@intertie/core/internal';
import type { RunEvents, RunSnapshot } from '../../inspect-types.ts';
import { getItemKind } from '../describe-item.ts';
import { throttleSubscribe } from '../throttle-subscribe.ts';
import { EventRate } from './event-rate.ts';
import { StreamTable } from './stream-table.ts';

/** State of the streams pane. A new object for every change; its table is only appended to. */
export type StreamView = { table: StreamTable; run: RunSnapshot; rate: number };

export type StreamStoreOptions = {
  /** Whether the target includes internal messages between agents. */
  internal: boolean;
  /** Whether the table has a column for the source's frames. */
  frames: boolean;
  items: ItemClassifier;
};

const renderIntervalMs = 100;

/** Store of a run's table for `useSyncExternalStore`. Encodes and checks only new events. */
export class StreamStore {
  readonly subscribe: RunEvents['subscribe'];
  #events: RunEvents;
  #target: Protocol;
  #options: StreamStoreOptions;
  #view: StreamView | undefined;
  #rate = new EventRate();

  constructor(events: RunEvents, target: Protocol, options: StreamStoreOptions) {
    this.#events = events;
    this.#target = target;
    this.#options = options;
    this.subscribe = throttleSubscribe(events.subscribe, renderIntervalMs);
  }

  readonly snapshot = (): StreamView => {
    const run = this.#events.snapshot();
    if (this.#view?.run === run) return this.#view;
    const table = this.#getTable(run);
    for (let index = table.events.length; index < run.entries.length; index++) table.feed(run.entries[index]!.event);
    if (table.hasFrames) table.setFrameCount(run.frames.length);
    if (run.status === 'ended') table.end();
    this.#rate.record(performance.now(), table.events.length);
    const rate = run.status === 'live' ? this.#rate.now : EventRate.average(table.events);
    this.#view = { table, run, rate };
    return this.#view;
  };

  #getTable(run: RunSnapshot): StreamTable {
    const { items } = this.#options;
    const hasFrames = this.#options.frames && run.frames.length > 0;
    const before = this.#view;
    const canExtend =
      before !== undefined &&
      before.run.runId === run.runId &&
      before.table.hasFrames === hasFrames &&
      before.table.events.length <= run.entries.length;
    if (canExtend) return before.table;
    this.#rate = new EventRate();
    return new StreamTable(this.#target, {
      hasFrames,
      internal: this.#options.internal,
      isDeltaFrame: (index) => {
        const frame = this.#events.snapshot().frames[index];
        // A frame that has not arrived yet is most likely a delta.
        return frame === undefined || items.isDelta(getItemKind(frame.frame));
      },
    });
  }
}
