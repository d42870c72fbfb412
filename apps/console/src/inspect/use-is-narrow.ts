import { useLayoutEffect, useState, type RefObject } from 'react';

/** Whether an element is narrower than that, as it is resized. */
export function useIsNarrow(element: RefObject<HTMLElement | null>, width: number): boolean {
  const [isNarrow, setNarrow] = useState(false);
  useLayoutEffect(() => {
    const box = element.current;
    if (!box) return undefined;
    const observer = new ResizeObserver(() => setNarrow(box.clientWidth < width));
    observer.observe(box);
    setNarrow(box.clientWidth < width);
    return () => observer.disconnect();
  }, [element, width]);
  return isNarrow;
}
