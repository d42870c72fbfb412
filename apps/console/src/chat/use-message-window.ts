import { startTransition, useCallback, useEffect, useLayoutEffect, useRef, useState, type RefObject } from 'react';

/** Messages of the first paint. More would delay the opening of a long thread. */
const firstSize = 16;

/** Messages that are rendered soon after, and added each time. */
const pageSize = 50;

/** Messages that are rendered above a message that is shown. */
const margin = 10;

/** Distance from the top, in pixels, at which earlier messages are added. */
const nearTop = 600;

export type MessageWindow = {
  /** Index of the first message that is rendered. */
  first: number;
  showEarlier: () => void;
  /** Renders messages from this index on. */
  showFrom: (index: number) => void;
};

/** Renders the end of a thread, and earlier messages as the user scrolls up. What the user reads stays in place. */
export function useMessageWindow(
  scroller: RefObject<HTMLElement | null>,
  threadId: string,
  count: number,
): MessageWindow {
  const [shown, setShown] = useState({ threadId, size: firstSize });
  const size = shown.threadId === threadId ? shown.size : firstSize;
  const first = Math.max(0, count - size);
  const heightBefore = useRef<number>(undefined);
  const showEarlier = (): void => {
    heightBefore.current = scroller.current?.scrollHeight;
    setShown({ threadId, size: Math.max(size, pageSize) + pageSize });
  };
  const showFrom = useCallback(
    (index: number): void => setShown({ threadId, size: count - index + margin }),
    [threadId, count],
  );

  useLayoutEffect(() => {
    const element = scroller.current;
    if (element && heightBefore.current !== undefined) element.scrollTop += element.scrollHeight - heightBefore.current;
    heightBefore.current = undefined;
  }, [scroller, size]);

  useEffect(() => {
    if (count <= firstSize || size !== firstSize) return;
    heightBefore.current = scroller.current?.scrollHeight;
    startTransition(() => setShown({ threadId, size: pageSize }));
  }, [scroller, threadId, count, size]);

  useEffect(() => {
    const element = scroller.current;
    if (element === null || first === 0) return undefined;
    let lastTop = element.scrollTop;
    const onScroll = (): void => {
      const isUp = element.scrollTop < lastTop;
      lastTop = element.scrollTop;
      if (isUp && element.scrollTop < nearTop) showEarlier();
    };
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => element.removeEventListener('scroll', onScroll);
  });
  return { first, showEarlier, showFrom };
}
