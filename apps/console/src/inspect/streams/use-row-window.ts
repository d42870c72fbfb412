import { useCallback, useLayoutEffect, useRef, useState, type RefObject } from 'react';
import { useRoom } from '../use-room.ts';

export const rowHeight = 22;

/** Rows beyond what is in sight, so that a flick of the wheel does not outrun them. At the end there is nothing beyond. */
const beyond = 16;
const beyondEnd = 4;

export type RowWindow = {
  /** The rows that are drawn: from the first up to, and without, the last. */
  first: number;
  last: number;
  onScroll: () => void;
  /** Brings a row into sight, if it is not. */
  reveal: (row: number) => void;
};

/**
 * Which of many rows of one height are drawn. A list that is held at its end (`isHeld`) draws its last rows wherever it was
 * scrolled to a moment ago: so what grows is drawn once, and not again when the scrolling is told.
 */
export function useRowWindow(scroller: RefObject<HTMLElement | null>, count: number, isHeld: boolean): RowWindow {
  const { height } = useRoom(scroller);
  const [top, setTop] = useState(0);
  const held = useRef(isHeld);

  const look = useCallback((): void => {
    // In steps, so that not every pixel is a reason to draw.
    const step = (beyond / 2) * rowHeight;
    if (scroller.current) setTop(Math.floor(scroller.current.scrollTop / step) * (beyond / 2));
  }, [scroller]);

  useLayoutEffect(() => {
    held.current = isHeld;
    if (!isHeld) look();
  }, [isHeld, look]);

  const onScroll = useCallback((): void => {
    if (!held.current) look();
  }, [look]);

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

  const inSight = Math.ceil(height / rowHeight) + 1;
  const first = isHeld ? count - inSight - beyondEnd : top - beyond;
  const last = isHeld ? count : top + inSight + beyond + beyond / 2;
  return { first: Math.max(0, Math.min(first, count)), last: Math.min(last, count), onScroll, reveal };
}
