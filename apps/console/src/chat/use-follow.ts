import { useCallback, useEffect, useRef, useState, type RefObject } from 'react';

/** Distance from the end, in pixels, that still counts as the end. */
const tolerance = 48;

export type Follow = {
  scroller: RefObject<HTMLDivElement | null>;
  content: RefObject<HTMLDivElement | null>;
  isFollowing: boolean;
  follow: () => void;
  /** Stops following until the user returns to the end. */
  release: () => void;
};

/** Keeps a growing list scrolled to its end until the user scrolls away, and again when they return to the end. */
export function useFollow(): Follow {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const [isFollowing, setFollowing] = useState(true);

  const follow = useCallback((): void => {
    isAtEnd.current = true;
    setFollowing(true);
    const element = scroller.current;
    if (element) element.scrollTop = element.scrollHeight;
  }, []);

  const release = useCallback((): void => {
    isAtEnd.current = false;
    setFollowing(false);
  }, []);

  useEffect(() => {
    const element = scroller.current;
    const inner = content.current;
    if (element === null || inner === null) return undefined;
    let height = element.scrollHeight;
    const onScroll = (): void => {
      // Content that grew is not a scroll by the user.
      const hasGrown = element.scrollHeight !== height;
      height = element.scrollHeight;
      const isNear = element.scrollHeight - element.scrollTop - element.clientHeight <= tolerance;
      if (!isNear && hasGrown && isAtEnd.current) return;
      isAtEnd.current = isNear;
      setFollowing(isNear);
    };
    const observer = new ResizeObserver(() => {
      // If everything fits, there is no way to scroll back to the end. A hidden list has no height.
      const fits = element.clientHeight > 0 && element.scrollHeight <= element.clientHeight;
      if (!isAtEnd.current && fits) {
        isAtEnd.current = true;
        setFollowing(true);
      }
      if (isAtEnd.current) element.scrollTop = element.scrollHeight;
    });
    observer.observe(inner);
    observer.observe(element);
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', onScroll);
    };
  }, []);

  return { scroller, content, isFollowing, follow, release };
}
