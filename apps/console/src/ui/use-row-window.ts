import { useCallback, useLayoutEffect, useRef, useState, type RefObject } from 'react';
import { useElementSize } from './use-element-size.ts';

export const rowHeight = 22;

/** Rows rendered beyond the visible ones, so that fast scrolling shows no gaps. A pinned list needs few. */
const overscan = 16;
const pinnedOverscan = 4;

export type RowWindow = {
  /** Rendered rows, from `first` up to but not including `last`. */
  first: number;
  last: number;
  onScroll: () => void;
  /** Scrolls a row into view if needed. */
  reveal: (row: number) => void;
};

/**
 * Virtualizes rows of equal height. A list that is pinned to its end renders its last rows independent of the scroll position, so
 * that new rows render once and not again on the scroll event.
 */
export function useRowWindow(scroller: RefObject<HTMLElement | null>, count: number, isPinned: boolean): RowWindow {
  const { height } = useElementSize(scroller);
  const [top, setTop] = useState(0);
  const pinned = useRef(isPinned);

  const update = useCallback((): void => {
    // In steps, so that not every scrolled pixel renders.
    const step = (overscan / 2) * rowHeight;
    if (scroller.current) setTop(Math.floor(scroller.current.scrollTop / step) * (overscan / 2));
  }, [scroller]);

  useLayoutEffect(() => {
    pinned.current = isPinned;
    if (!isPinned) update();
  }, [isPinned, update]);

  const onScroll = useCallback((): void => {
    if (!pinned.current) update();
  }, [update]);

  const reveal = useCallback(
    (row: number): void => {
      const list = scroller.current;
      if (!list) return;
      const start = row * rowHeight;
      const end = start + rowHeight - list.clientHeight;
      if (list.scrollTop > start) list.scrollTop = start;
      else if (list.scrollTop < end) list.scrollTop = end;
    },
    [scroller],
  );

  const visible = Math.ceil(height / rowHeight) + 1;
  const first = isPinned ? count - visible - pinnedOverscan : top - overscan;
  const last = isPinned ? count : top + visible + overscan + overscan / 2;
  return { first: Math.max(0, Math.min(first, count)), last: Math.min(last, count), onScroll, reveal };
}
