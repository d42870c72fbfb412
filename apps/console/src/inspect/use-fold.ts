import { useMemo, useSyncExternalStore } from 'react';
import type { AgentEvent } from '@intertie/core';
import type { RunEvents, RunSnapshot } from '../inspect-types.ts';
import { throttleSubscribe } from './throttle-subscribe.ts';

/** Reducer that is fed the events of a run one by one. */
export type EventFold = { readonly count: number; feed(event: AgentEvent): void };

/** Folds a run as it grows, at most once per `ms`. Returns a new object whenever the run has grown. */
export function useFold<Fold extends EventFold>(
  events: RunEvents,
  create: (run: RunEvents) => Fold,
  ms: number,
): { fold: Fold; run: RunSnapshot } {
  const store = useMemo(() => createFoldStore(events, create), [events, create]);
  const subscribe = useMemo(() => throttleSubscribe(events.subscribe, ms), [events, ms]);
  return useSyncExternalStore(subscribe, store);
}

function createFoldStore<Fold extends EventFold>(
  events: RunEvents,
  create: (run: RunEvents) => Fold,
): () => { fold: Fold; run: RunSnapshot } {
  let fold = create(events);
  let view: { fold: Fold; run: RunSnapshot } | undefined;
  return () => {
    const run = events.snapshot();
    if (view?.run === run) return view;
    // The log was reset, or the run is another one.
    if (fold.count > run.entries.length || (view && view.run.runId !== run.runId)) fold = create(events);
    for (let index = fold.count; index < run.entries.length; index++) fold.feed(run.entries[index]!.event);
    view = { fold, run };
    return view;
  };
}
