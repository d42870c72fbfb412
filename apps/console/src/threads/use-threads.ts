import { useCallback, useEffect, useState } from 'react';
import { api, formatError, type ThreadInfo } from '../api.ts';
import { onThreadsChanged } from '../thread-changes.ts';

/** Other clients create threads too, and the server has no notification for that. */
const refreshIntervalMs = 10_000;

export type Threads = {
  threads: readonly ThreadInfo[];
  error: string | undefined;
  isLoading: boolean;
  /** Absent if all threads are loaded. */
  loadMore: (() => void) | undefined;
};

type Page = { search: string; threads: ThreadInfo[]; cursor?: string };

/** Returns the matching threads, newest first. Refreshes the first page only; older pages are loaded once. */
export function useThreads(search: string): Threads {
  const [first, setFirst] = useState<Page>();
  const [older, setOlder] = useState<Page>();
  const [error, setError] = useState<string>();

  const refresh = useCallback(
    async (signal: AbortSignal): Promise<void> => {
      try {
        const page = await api.threads({ search });
        if (signal.aborted) return;
        setFirst({ search, ...page });
        setError(undefined);
      } catch (cause) {
        if (!signal.aborted) setError(formatError(cause));
      }
    },
    [search],
  );

  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const refreshIfVisible = (): void => void (document.visibilityState === 'visible' && refresh(signal));
    const debounce = setTimeout(refreshIfVisible, search === '' ? 0 : 150);
    const timer = setInterval(refreshIfVisible, refreshIntervalMs);
    const unsubscribe = onThreadsChanged(refreshIfVisible);
    document.addEventListener('visibilitychange', refreshIfVisible, { signal });
    return () => {
      controller.abort();
      clearTimeout(debounce);
      clearInterval(timer);
      unsubscribe();
    };
  }, [refresh, search]);

  const rest = older?.search === search ? older : undefined;
  const cursor = rest === undefined ? first?.cursor : rest.cursor;
  const loadPage = async (from: string): Promise<void> => {
    try {
      const page = await api.threads({ search, cursor: from });
      setOlder({ search, ...page, threads: [...(rest?.threads ?? []), ...page.threads] });
    } catch (cause) {
      setError(formatError(cause));
    }
  };
  return {
    threads: mergePages(first?.threads ?? [], rest?.threads ?? []),
    error,
    isLoading: first === undefined && error === undefined,
    loadMore: cursor === undefined ? undefined : () => void loadPage(cursor),
  };
}

/** Removes duplicates: a thread of an older page moves to the first page when it changes. */
function mergePages(first: readonly ThreadInfo[], older: readonly ThreadInfo[]): ThreadInfo[] {
  const ids = new Set(first.map(({ id }) => id));
  return [...first, ...older.filter(({ id }) => !ids.has(id))];
}
