import type { AgentEvent } from '@intertie/core';
import { api, readError, formatError } from '../api.ts';
import type { LogEntry, RunEvents, RunSnapshot, SourceFrame } from '../inspect-types.ts';
import { abortWhenHidden, waitUntilVisible, withConnectionLock } from '../connection/tab-connections.ts';
import { readSSE, type SSEEvent } from '../connection/sse.ts';

/** Store of a run that is followed until `close`. */
export type FollowedRun = RunEvents & { close: () => void };

export type FollowRunOptions = {
  fetch?: typeof fetch;
  /** Runs the callback before the next paint. */
  schedule?: (callback: () => void) => void;
  /** Delay before the nth consecutive attempt. Default: exponential, 250 ms to 8 s. */
  retryMs?: (attempt: number) => number;
};

const maxAttempts = 8;
/** Polling interval of a tab that may not hold a connection. */
const pollMs = 500;

/** Follows the canonical events of a run and, if the server records them, the frames of its source. */
export function followRun(runId: string, threadId: string | undefined, options: FollowRunOptions = {}): FollowedRun {
  const { fetch: request = fetch, schedule = onNextFrame, retryMs = defaultRetryMs } = options;
  const controller = new AbortController();
  const { signal } = controller;
  const store = createStore({ runId, entries: [], frames: [], status: 'loading', reconnects: 0 }, schedule);
  let entries: LogEntry[] = [];
  const frames: SourceFrame[] = [];

  /** Returns whether the event was the last one. */
  const addEvent = ({ id, event: name, data }: SSEEvent): boolean => {
    if (name === 'reset') {
      entries = [];
      return false;
    }
    const event = JSON.parse(data) as AgentEvent;
    entries.push({ id, event });
    return event.type === 'run-end';
  };

  /** Reads one connection to its end. Returns whether the run has ended. */
  const readEvents = async (isLive: boolean): Promise<boolean> => {
    const query = { after: entries.at(-1)?.id, isLive };
    const response = await request(api.urls.runEvents(runId, threadId, query), { signal: abortWhenHidden(signal) });
    if (response.status === 410) {
      store.set({ status: 'dropped' });
      return true;
    }
    if (!response.ok || response.body === null) throw await readError(response);
    for await (const batch of readSSE(response.body)) {
      const hasEnded = batch.some((event) => addEvent(event));
      store.set({ entries, status: hasEnded ? 'ended' : entries.length === 0 ? 'loading' : 'live' });
      if (hasEnded) return true;
    }
    return false;
  };

  /** Streams events if this tab may hold a connection, otherwise polls once. */
  const readOnce = (): Promise<'ended' | 'cut' | 'polled'> =>
    withConnectionLock<'ended' | 'cut' | 'polled'>(
      'run-events',
      async () => ((await readEvents(true)) ? 'ended' : 'cut'),
      async () => ((await readEvents(false)) ? 'ended' : 'polled'),
    );

  const followEvents = async (): Promise<void> => {
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const before = entries.length;
      let result: Awaited<ReturnType<typeof readOnce>> = 'cut';
      try {
        await waitUntilVisible(signal);
        result = await readOnce();
        if (result === 'ended') return;
      } catch (error) {
        if (signal.aborted) return;
        if (!isHidden()) store.set({ error: formatError(error) });
      }
      if (entries.length > before || result === 'polled' || isHidden()) attempt = 0;
      await wait(result === 'polled' ? pollMs : retryMs(attempt), signal);
      if (signal.aborted) return;
      if (result === 'cut') store.set({ reconnects: store.snapshot().reconnects + 1 });
    }
    store.set({ status: 'failed' });
  };

  /** Reads one connection to its end. Returns whether the server records frames of this run. */
  const readFrames = async (): Promise<boolean> => {
    const response = await request(api.urls.runFrames(runId, threadId), { signal: abortWhenHidden(signal) });
    if (!response.ok || response.body === null) return false;
    for await (const batch of readSSE(response.body)) {
      for (const { data } of batch) {
        const frame = JSON.parse(data) as SourceFrame;
        // Every connection starts with the first frame.
        if (frame.index > (frames.at(-1)?.index ?? -1)) frames.push(frame);
      }
      store.set({ frames });
    }
    return true;
  };

  /** Whether all frames that the events refer to have arrived. */
  const hasAllFrames = (): boolean => {
    const { event } = entries.findLast((entry) => entry.event.origin !== undefined) ?? {};
    return (event?.origin ?? -1) <= (frames.at(-1)?.index ?? -1);
  };

  /**
   * Missing frames are not an error: the server records them on loopback only, and for recent runs. One tab streams the frames of
   * a live run. Other tabs, and tabs that have received none, read them when the run has ended.
   */
  const followFrames = async (): Promise<void> => {
    let isRecorded = true;
    for (let cuts = 0; cuts < maxAttempts && !signal.aborted;) {
      await waitUntilVisible(signal);
      const before = frames.length;
      const hasEnded = store.snapshot().status === 'ended';
      if (hasEnded || isRecorded) {
        try {
          const reading = hasEnded ? readFrames() : withConnectionLock('run-frames', readFrames, async () => true);
          isRecorded = await reading;
          if (hasEnded) return;
        } catch {
          cuts = frames.length > before ? 0 : cuts + 1;
        }
      }
      if (store.snapshot().status === 'ended' && frames.length > 0 && hasAllFrames()) return;
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

/** Store without a run. */
export const noRun: RunEvents = {
  subscribe: () => () => undefined,
  snapshot: (() => {
    const none: RunSnapshot = { runId: undefined, entries: [], frames: [], status: 'idle', reconnects: 0 };
    return () => none;
  })(),
};

/** Creates a store with the complete events of a tape. */
export function createRecordedRun(events: readonly AgentEvent[]): RunEvents {
  const entries = events.map((event, index) => ({ id: `1.${index + 1}`, event }));
  const [first] = events;
  const runId = first?.type === 'run-start' ? first.runId : 'tape';
  const snapshot: RunSnapshot = { runId, entries, frames: [], status: 'ended', reconnects: 0 };
  return { subscribe: () => () => undefined, snapshot: () => snapshot };
}

type Store = RunEvents & { set: (change: Partial<RunSnapshot>) => void; close: () => void };

/** Batches changes and publishes them before the next paint: a run may emit thousands of events per second. */
function createStore(initial: RunSnapshot, schedule: (callback: () => void) => void): Store {
  let current = initial;
  let next: Partial<RunSnapshot> | undefined;
  const listeners = new Set<() => void>();
  const publish = (): void => {
    if (next === undefined) return;
    const { entries, frames } = next;
    // Copies the arrays: a published snapshot must not change.
    current = {
      ...current,
      ...next,
      ...(entries && { entries: [...entries] }),
      ...(frames && { frames: [...frames] }),
    };
    next = undefined;
    for (const listener of listeners) listener();
  };
  return {
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    snapshot: () => current,
    set: (change) => {
      const isFirst = next === undefined;
      next = { ...next, ...change };
      if (isFirst) schedule(publish);
    },
    close: () => listeners.clear(),
  };
}

function isHidden(): boolean {
  return globalThis.document?.visibilityState === 'hidden';
}

/** Uses a timer while the page is hidden, since no animation frames run then. */
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
