import { useState } from 'react';

/** A setting that this browser remembers. Where it may not, it lasts as long as the page. */
export function useStored<T extends string | number | boolean>(name: string, initial: T): [T, (value: T) => void] {
  const key = `intertie:${name}`;
  const [value, setValue] = useState<T>(() => {
    try {
      const kept = localStorage.getItem(key);
      const parsed: unknown = kept === null ? undefined : JSON.parse(kept);
      return typeof parsed === typeof initial ? (parsed as T) : initial;
    } catch {
      return initial;
    }
  });
  const set = (next: T): void => {
    setValue(next);
    try {
      localStorage.setItem(key, JSON.stringify(next));
    } catch {
      // Not kept, then.
    }
  };
  return [value, set];
}
