import { useSyncExternalStore } from 'react';
import { api, type OpenQuestion, type ThreadInfo } from '../api.ts';
import { onThreadsChanged } from '../thread-changes.ts';

/** Everything that waits for the user. Both lists start with the newest thread. */
export type Waiting = {
  questions: readonly OpenQuestion[];
  /** Threads whose last answer is paused without an open question, so that it waits for a message. */
  threads: readonly ThreadInfo[];
  /** Number of questions and threads. */
  count: number;
};

/** Other clients and runs ask questions too, and the server has no notification for that. */
const refreshIntervalMs = 10_000;

let waiting: Waiting = { questions: [], threads: [], count: 0 };
let key = '';
const listeners = new Set<() => void>();
let stop: (() => void) | undefined;

/** Returns everything that waits for the user. All components share one poll. */
export function useWaiting(): Waiting {
  return useSyncExternalStore(subscribe, () => waiting);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  stop ??= poll();
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    stop?.();
    stop = undefined;
  };
}

function poll(): () => void {
  const controller = new AbortController();
  const { signal } = controller;
  const refresh = async (): Promise<void> => {
    if (document.visibilityState === 'hidden') return;
    const found = await readWaiting().catch(() => undefined);
    if (found === undefined || signal.aborted) return;
    const nextKey = JSON.stringify(found);
    if (nextKey === key) return;
    key = nextKey;
    waiting = found;
    for (const listener of listeners) listener();
  };
  const start = (): void => void refresh();
  start();
  const timer = setInterval(start, refreshIntervalMs);
  const unsubscribe = onThreadsChanged(start);
  document.addEventListener('visibilitychange', start, { signal });
  addEventListener('online', start, { signal });
  return () => {
    controller.abort();
    clearInterval(timer);
    unsubscribe();
  };
}

async function readWaiting(): Promise<Waiting> {
  const [{ questions }, paused] = await Promise.all([api.openQuestions(), api.threads({ paused: 'true', limit: 200 })]);
  const asking = new Set(questions.map(({ threadId }) => threadId));
  const threads = paused.threads.filter(({ id }) => !asking.has(id));
  return { questions, threads, count: questions.length + threads.length };
}
