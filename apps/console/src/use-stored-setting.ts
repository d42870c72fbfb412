import { useState } from 'react';

/** Setting in `localStorage`. Without access to it, the setting lasts as long as the page. */
export function useStoredSetting<T extends string | number | boolean>(
  name: string,
  initial: T,
): [T, (value: T) => void] {
  const key = `intertie:${name}`;
  const [value, setValue] = useState<T>(() => {
    try {
      const stored = localStorage.getItem(key);
      const parsed: unknown = stored === null ? undefined : JSON.parse(stored);
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
      // Storage is blocked or full: keep the value in memory only.
    }
  };
  return [value, set];
}
