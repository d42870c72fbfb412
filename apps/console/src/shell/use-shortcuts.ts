import { useEffect, useRef } from 'react';

export type Shortcuts = { readonly [key: string]: () => void };

/** Handles single-key shortcuts outside of text fields. A focused inspector pane handles its own keys first. */
export function useShortcuts(shortcuts: Shortcuts): void {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return;
      const target = event.target as HTMLElement;
      if (target.closest('input:not([type=range]), textarea, select, [contenteditable], dialog') !== null) return;
      const action = latest.current[event.key];
      if (action === undefined) return;
      event.preventDefault();
      action();
    };
    // Panes listen on the document, which receives the event before the window.
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
}

/** Focuses the next or the previous message. */
export function stepMessage(by: 1 | -1): void {
  const messages = [...document.querySelectorAll<HTMLElement>('.messages .message')];
  const at = messages.findIndex((message) => message.contains(document.activeElement));
  const next = at === -1 ? (by === 1 ? 0 : messages.length - 1) : at + by;
  const message = messages[next];
  message?.focus({ preventScroll: true });
  message?.scrollIntoView({ block: 'nearest' });
}
