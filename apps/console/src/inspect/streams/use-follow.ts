import { useCallback, useEffect, useLayoutEffect, useRef, useState, type RefObject } from 'react';

/** How near to the end still counts as there. */
const near = 40;

/** A run that is over is read in less; one that still goes on after this is followed. */
const readMs = 400;

export type Follow = {
  isFollowing: boolean;
  setFollowing: (follow: boolean) => void;
  /** It is at the end, and stays there. */
  isHeld: boolean;
  onScroll: () => void;
};

/**
 * Stays at the end of a list that grows. It lets go when the reader scrolls up, and takes hold again at the end. Without a
 * run that goes on (`isLive`) there is nothing to stay with, and a list opens at its beginning.
 */
export function useFollow(element: RefObject<HTMLElement | null>, length: number, isLive: boolean): Follow {
  const [isFollowing, setFollowing] = useState(true);
  const lastTop = useRef(0);
  const [wasLive, setWasLive] = useState(false);
  useEffect(() => {
    if (!isLive) return undefined;
    const timer = setTimeout(() => setWasLive(true), readMs);
    return () => clearTimeout(timer);
  }, [isLive]);
  const isHeld = isFollowing && wasLive;

  useLayoutEffect(() => {
    const list = element.current;
    if (!list || !isHeld) return;
    list.scrollTop = list.scrollHeight;
    lastTop.current = list.scrollTop;
  }, [element, length, isHeld]);

  const onScroll = useCallback(() => {
    const list = element.current;
    if (!list) return;
    const { scrollTop, scrollHeight, clientHeight } = list;
    const isUp = scrollTop < lastTop.current - 1;
    lastTop.current = scrollTop;
    if (scrollHeight - scrollTop - clientHeight < near) setFollowing(true);
    else if (isUp) setFollowing(false);
  }, [element]);

  const set = useCallback((follow: boolean) => {
    // Asked for, it also goes to the end of a run that is over.
    if (follow) setWasLive(true);
    setFollowing(follow);
  }, []);
  return { isFollowing, setFollowing: set, isHeld, onScroll };
}
