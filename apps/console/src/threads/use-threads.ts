import { useCallback, useEffect, useState } from 'react';
import { api, messageOf, type ThreadInfo } from '../api.ts';
import { onThreads } from './thread-news.ts';

/** Others start threads too, and nothing tells of it. */
const lookEveryMs = 10_000;

export type Threads = {
  threads: readonly ThreadInfo[];
  error: string | undefined;
  isLoading: boolean;
  /** There are more. */
  more: (() => void) | undefined;
};

type Page = { search: string; threads: ThreadInfo[]; cursor?: string };

/** The threads, newest first, as far as they match. The first page is kept up to date; older ones are as they were read. */
export function useThreads(search: string): Threads {
  const [first, setFirst] = useState<Page>();
  const [older, setOlder] = useState<Page>();
  const [error, setError] = useState<string>();

  const look = useCallback(
    async (signal: AbortSignal): Promise<void> => {
      try {
        const page = await api.threads({ search });
        if (signal.aborted) return;
        setFirst({ search, ...page });
        setError(undefined);
      } catch (problem) {
        if (!signal.aborted) setError(messageOf(problem));
      }
    },
    [search],
  );

  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const now = (): void => void (document.visibilityState === 'visible' && look(signal));
    const typed = setTimeout(now, search === '' ? 0 : 150);
    const timer = setInterval(now, lookEveryMs);
    const stop = onThreads(now);
    document.addEventListener('visibilitychange', now, { signal });
    return () => {
      controller.abort();
      clearTimeout(typed);
      clearInterval(timer);
      stop();
    };
  }, [look, search]);

  const rest = older?.search === search ? older : undefined;
  const cursor = rest === undefined ? first?.cursor : rest.cursor;
  const readOn = async (from: string): Promise<void> => {
    try {
      const page = await api.threads({ search, cursor: from });
      setOlder({ search, ...page, threads: [...(rest?.threads ?? []), ...page.threads] });
    } catch (problem) {
      setError(messageOf(problem));
    }
  };
  return {
    threads: joined(first?.threads ?? [], rest?.threads ?? []),
    error,
    isLoading: first === undefined && error === undefined,
    more: cursor === undefined ? undefined : () => void readOn(cursor),
  };
}

/** One that was written to has moved up since the older page was read. */
function joined(first: readonly ThreadInfo[], older: readonly ThreadInfo[]): ThreadInfo[] {
  const ids = new Set(first.map(({ id }) => id));
  return [...first, ...older.filter(({ id }) => !ids.has(id))];
}
