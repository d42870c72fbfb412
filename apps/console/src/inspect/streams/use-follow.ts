import { useCallback, useEffect, useLayoutEffect, useRef, useState, type RefObject } from 'react';

/** Distance from the end, in pixels, that still counts as the end. */
const tolerance = 40;

/** A complete run loads faster than this; a run that is live for longer is followed. */
const loadMs = 400;

export type Follow = {
  isFollowing: boolean;
  setFollowing: (follow: boolean) => void;
  /** Whether the list is kept scrolled to its end. */
  isPinned: boolean;
  onScroll: () => void;
};

/**
 * Keeps a growing list scrolled to its end. Stops when the user scrolls up, and starts again at the end. A list of a run that was
 * never live opens at its beginning.
 */
export function useFollow(element: RefObject<HTMLElement | null>, length: number, isLive: boolean): Follow {
  const [isFollowing, setFollowing] = useState(true);
  const lastTop = useRef(0);
  const [wasLive, setWasLive] = useState(false);
  useEffect(() => {
    if (!isLive) return undefined;
    const timer = setTimeout(() => setWasLive(true), loadMs);
    return () => clearTimeout(timer);
  }, [isLive]);
  const isPinned = isFollowing && wasLive;

  useLayoutEffect(() => {
    const list = element.current;
    if (!list || !isPinned) return;
    list.scrollTop = list.scrollHeight;
    lastTop.current = list.scrollTop;
  }, [element, length, isPinned]);

  // A hidden list cannot scroll: it scrolls when it is shown.
  const isEmpty = length === 0;
  useEffect(() => {
    const list = element.current;
    if (!list || !isPinned || isEmpty) return undefined;
    const observer = new ResizeObserver(() => {
      list.scrollTop = list.scrollHeight;
      lastTop.current = list.scrollTop;
    });
    observer.observe(list);
    return () => observer.disconnect();
  }, [element, isPinned, isEmpty]);

  const onScroll = useCallback(() => {
    const list = element.current;
    if (!list) return;
    const { scrollTop, scrollHeight, clientHeight } = list;
    const isUp = scrollTop < lastTop.current - 1;
    lastTop.current = scrollTop;
    if (scrollHeight - scrollTop - clientHeight < tolerance) setFollowing(true);
    else if (isUp) setFollowing(false);
  }, [element]);

  const set = useCallback((follow: boolean) => {
    // On request, also scrolls to the end of a run that has ended.
    if (follow) setWasLive(true);
    setFollowing(follow);
  }, []);
  return { isFollowing, setFollowing: set, isPinned, onScroll };
}
