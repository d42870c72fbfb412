import { useLayoutEffect, useState, type RefObject } from 'react';

export type Size = { width: number; height: number };

/** Returns the size of an element and updates it on resize. Known before the first paint. */
export function useElementSize(element: RefObject<HTMLElement | null>): Size {
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const box = element.current;
    if (!box) return undefined;
    const measure = (): void => setSize({ width: box.clientWidth, height: box.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(box);
    measure();
    return () => observer.disconnect();
  }, [element]);
  return size;
}
