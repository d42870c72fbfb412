import { useEffect, useState } from 'react';
import { api, formatError, type MatchInfo } from '../api.ts';

const debounceMs = 200;

type Result = { search: string; matches?: readonly MatchInfo[]; error?: string };

/** Searches the text of messages while the user types. Shows the previous result until the next one arrives. */
export function useMessageSearch(search: string): Omit<Result, 'search'> {
  const [result, setResult] = useState<Result>();
  useEffect(() => {
    let isCurrent = true;
    const timer = setTimeout(() => {
      api.search(search).then(
        ({ matches }) => isCurrent && setResult({ search, matches }),
        (error: unknown) => isCurrent && setResult({ search, error: formatError(error) }),
      );
    }, debounceMs);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [search]);
  return result ?? {};
}
