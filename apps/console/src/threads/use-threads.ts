import { useCallback, useEffect, useState } from 'react';
import { api, messageOf, type ThreadInfo } from '../api.ts';
import { onThreads } from './thread-news.ts';

/** Others start threads too, and nothing tells of it. */
const lookEveryMs = 10_000;
const page = 50;

export type Threads = {
  threads: readonly ThreadInfo[];
  error: string | undefined;
  isLoading: boolean;
  /** There are more. */
  more: (() => void) | undefined;
};

/** The threads, newest first, as far as they match. */
export function useThreads(search: string): Threads {
  const [found, setFound] = useState<{ threads: ThreadInfo[]; cursor?: string }>();
  const [error, setError] = useState<string>();
  const [limit, setLimit] = useState(page);

  const look = useCallback(
    async (signal: AbortSignal): Promise<void> => {
      try {
        const next = await api.threads({ ...(search !== '' && { search }), limit });
        if (signal.aborted) return;
        setFound(next);
        setError(undefined);
      } catch (problem) {
        if (!signal.aborted) setError(messageOf(problem));
      }
    },
    [search, limit],
  );

  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const now = (): void => void (document.visibilityState === 'visible' && look(signal));
    const first = setTimeout(now, search === '' ? 0 : 150);
    const timer = setInterval(now, lookEveryMs);
    const stop = onThreads(now);
    document.addEventListener('visibilitychange', now, { signal });
    return () => {
      controller.abort();
      clearTimeout(first);
      clearInterval(timer);
      stop();
    };
  }, [look, search]);

  const hasMore = found?.cursor !== undefined;
  return {
    threads: found?.threads ?? [],
    error,
    isLoading: found === undefined && error === undefined,
    more: hasMore ? () => setLimit(limit + page) : undefined,
  };
}
