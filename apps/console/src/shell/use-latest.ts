import { useCallback, useLayoutEffect, useRef } from 'react';

/** A function that stays the same and does what the newest one does, for those who compare what they are given. */
export function useLatest(action: () => void): () => void {
  const latest = useRef(action);
  useLayoutEffect(() => {
    latest.current = action;
  });
  return useCallback(() => latest.current(), []);
}
