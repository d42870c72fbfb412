import { useEffect, useRef } from 'react';

export type PaneKeys = { [key: string]: (event: KeyboardEvent) => void };

/** Handles single keys while the pane has the focus, except in text fields. Other keys are handled by `useShortcuts`. */
export function usePaneKeys(keys: PaneKeys): void {
  const latest = useRef(keys);
  useEffect(() => {
    latest.current = keys;
  });
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const handler = latest.current[event.key];
      if (!handler || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (!(event.target instanceof HTMLElement) || !event.target.closest('.pane') || isWriting(event.target)) return;
      event.preventDefault();
      handler(event);
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
}

function isWriting(target: HTMLElement): boolean {
  if (target instanceof HTMLInputElement) return target.type !== 'range';
  return target.isContentEditable || target.closest('textarea, select') !== null;
}
