import { useSyncExternalStore } from 'react';
import { api, type OpenQuestion } from '../api.ts';
import { onThreadsChanged } from '../thread-changes.ts';

/** Other clients and runs ask questions too, and the server has no notification for that. */
const refreshIntervalMs = 10_000;

const none: readonly OpenQuestion[] = [];
let questions = none;
let key = '';
const listeners = new Set<() => void>();
let stop: (() => void) | undefined;

/** Returns all open questions of the user, newest thread first. All components share one poll. */
export function useOpenQuestions(): readonly OpenQuestion[] {
  return useSyncExternalStore(subscribe, () => questions);
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
    const found = await api.openQuestions().catch(() => undefined);
    if (found === undefined || signal.aborted) return;
    const nextKey = JSON.stringify(found.questions);
    if (nextKey === key) return;
    key = nextKey;
    ({ questions } = found);
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
