import type { AgentEvent } from '@intertie/core';
import { api, errorOf, messageOf } from './api.ts';
import type { LogEntry, RunEvents, RunSnapshot, SourceFrame } from './inspect-types.ts';
import { untilHidden, whenSeen, withWire } from './shared-wire.ts';
import { readSSE, type SSEEvent } from './sse.ts';

/** A store of a run that is followed until `close`. */
export type FollowedRun = RunEvents & { close: () => void };

export type FollowRunOptions = {
  fetch?: typeof fetch;
  /** Calls back before the next paint. */
  schedule?: (callback: () => void) => void;
  /** How long to wait before the nth attempt in a row. */
  retryMs?: (attempt: number) => number;
};

const maxAttempts = 8;
/** How often a tab looks that may not hold a connection. */
const pollMs = 500;

/** Follows a run's canonical events and, where the server keeps them, the frames of its source. */
export function followRun(runId: string, threadId: string | undefined, options: FollowRunOptions = {}): FollowedRun {
  const { fetch: request = fetch, schedule = onNextFrame, retryMs = defaultRetryMs } = options;
  const controller = new AbortController();
  const { signal } = controller;
  const store = createStore({ runId, entries: [], frames: [], status: 'loading', reconnects: 0 }, schedule);
  let entries: LogEntry[] = [];
  const frames: SourceFrame[] = [];

  /** Whether it was the last. */
  const take = ({ id, event: name, data }: SSEEvent): boolean => {
    if (name === 'reset') {
      entries = [];
      return false;
    }
    const event = JSON.parse(data) as AgentEvent;
    entries.push({ id, event });
    return event.type === 'run-end';
  };

  /** Reads one connection to its end. Whether the run has ended. */
  const readEvents = async (isLive: boolean): Promise<boolean> => {
    const place = { after: entries.at(-1)?.id, isLive };
    const response = await request(api.urls.runEvents(runId, threadId, place), { signal: untilHidden(signal) });
    if (response.status === 410) {
      store.set({ status: 'dropped' });
      return true;
    }
    if (!response.ok || response.body === null) throw await errorOf(response);
    for await (const batch of readSSE(response.body)) {
      const isOver = batch.some((event) => take(event));
      store.set({ entries, status: isOver ? 'ended' : entries.length === 0 ? 'loading' : 'live' });
      if (isOver) return true;
    }
    return false;
  };

  /** One look: as long as it goes where this tab may hold a connection, else at what is there. */
  const look = (): Promise<'over' | 'cut' | 'not-yet'> =>
    withWire<'over' | 'cut' | 'not-yet'>(
      'run-events',
      async () => ((await readEvents(true)) ? 'over' : 'cut'),
      async () => ((await readEvents(false)) ? 'over' : 'not-yet'),
    );

  const followEvents = async (): Promise<void> => {
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const before = entries.length;
      let seen: Awaited<ReturnType<typeof look>> = 'cut';
      try {
        // oxlint-disable-next-line no-await-in-loop -- one attempt after the other
        await whenSeen(signal);
        // oxlint-disable-next-line no-await-in-loop
        seen = await look();
        if (seen === 'over') return;
      } catch (error) {
        if (signal.aborted) return;
        if (!isHidden()) store.set({ error: messageOf(error) });
      }
      if (entries.length > before || seen === 'not-yet' || isHidden()) attempt = 0;
      // oxlint-disable-next-line no-await-in-loop
      await wait(seen === 'not-yet' ? pollMs : retryMs(attempt), signal);
      if (signal.aborted) return;
      if (seen === 'cut') store.set({ reconnects: store.snapshot().reconnects + 1 });
    }
    store.set({ status: 'failed' });
  };

  /** Reads one connection to its end. Whether the server keeps frames at all. */
  const readFrames = async (): Promise<boolean> => {
    const response = await request(api.urls.runFrames(runId, threadId), { signal: untilHidden(signal) });
    if (!response.ok || response.body === null) return false;
    for await (const batch of readSSE(response.body)) {
      for (const { data } of batch) {
        const frame = JSON.parse(data) as SourceFrame;
        // Who reads again is told all of them again.
        if (frame.index > (frames.at(-1)?.index ?? -1)) frames.push(frame);
      }
      store.set({ frames });
    }
    return true;
  };

  /** Whether no event speaks of a frame that has not come. */
  const hasFrames = (): boolean => {
    const { event } = entries.findLast((entry) => entry.event.origin !== undefined) ?? {};
    return (event?.origin ?? -1) <= (frames.at(-1)?.index ?? -1);
  };

  /**
   * That there are none is no failure: a server keeps them on loopback only, and for the last runs. Of a run that goes on, one tab
   * is told them as they come; the others, and who was told of none yet, read them when it is over.
   */
  const followFrames = async (): Promise<void> => {
    let isTold = true;
    for (let cuts = 0; cuts < maxAttempts && !signal.aborted;) {
      // oxlint-disable-next-line no-await-in-loop -- one attempt after the other
      await whenSeen(signal);
      const before = frames.length;
      const isOver = store.snapshot().status === 'ended';
      if (isOver || isTold) {
        try {
          const reading = isOver ? readFrames() : withWire('run-frames', readFrames, async () => true);
          // oxlint-disable-next-line no-await-in-loop
          isTold = await reading;
          if (isOver) return;
        } catch {
          cuts = frames.length > before ? 0 : cuts + 1;
        }
      }
      if (store.snapshot().status === 'ended' && frames.length > 0 && hasFrames()) return;
      // oxlint-disable-next-line no-await-in-loop
      await wait(pollMs, signal);
    }
  };

  void followEvents();
  void followFrames();
  return {
    subscribe: store.subscribe,
    snapshot: store.snapshot,
    close: () => {
      controller.abort();
      store.close();
    },
  };
}

/** Nothing to look at. */
export const noRun: RunEvents = {
  subscribe: () => () => undefined,
  snapshot: (() => {
    const none: RunSnapshot = { runId: undefined, entries: [], frames: [], status: 'idle', reconnects: 0 };
    return () => none;
  })(),
};

/** A run that is all here: a tape. */
export function recordedRun(events: readonly AgentEvent[]): RunEvents {
  const entries = events.map((event, index) => ({ id: `1.${index + 1}`, event }));
  const [first] = events;
  const runId = first?.type === 'run-start' ? first.runId : 'tape';
  const snapshot: RunSnapshot = { runId, entries, frames: [], status: 'ended', reconnects: 0 };
  return { subscribe: () => () => undefined, snapshot: () => snapshot };
}

type Store = RunEvents & { set: (change: Partial<RunSnapshot>) => void; close: () => void };

/** Changes are told together, before the next paint: a run may say thousands of things in a second. */
function createStore(initial: RunSnapshot, schedule: (callback: () => void) => void): Store {
  let shown = initial;
  let next: Partial<RunSnapshot> | undefined;
  const listeners = new Set<() => void>();
  const tell = (): void => {
    if (next === undefined) return;
    const { entries, frames } = next;
    // What a snapshot holds stays as it is, so that React may compare.
    shown = { ...shown, ...next, ...(entries && { entries: [...entries] }), ...(frames && { frames: [...frames] }) };
    next = undefined;
    for (const listener of listeners) listener();
  };
  return {
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    snapshot: () => shown,
    set: (change) => {
      const isFirst = next === undefined;
      next = { ...next, ...change };
      if (isFirst) schedule(tell);
    },
    close: () => listeners.clear(),
  };
}

function isHidden(): boolean {
  return globalThis.document?.visibilityState === 'hidden';
}

/** A hidden page paints nothing, and must not fall behind for it. */
function onNextFrame(callback: () => void): void {
  if (isHidden()) setTimeout(callback, 100);
  else requestAnimationFrame(callback);
}

function defaultRetryMs(attempt: number): number {
  return Math.min(250 * 2 ** attempt, 8000);
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}
