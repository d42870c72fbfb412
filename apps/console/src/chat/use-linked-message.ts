import type { UIMessage } from 'ai';
import { useEffect, useRef, type RefObject } from 'react';
import { useLocation } from '../use-location.ts';
import type { ThreadSession } from './session/thread-session.ts';

/** Scrolls to the message that the URL names. A message of another branch makes its branch the active one. */
export function useLinkedMessage(options: {
  session: ThreadSession;
  messages: readonly UIMessage[];
  scroller: RefObject<HTMLElement | null>;
  /** Index of the first message that is rendered. */
  first: number;
  /** Renders messages from this index on. */
  showFrom: (index: number) => void;
  /** Stops scrolling to the end. */
  release: () => void;
}): void {
  const { session, messages, scroller, first, showFrom, release } = options;
  const { message } = useLocation();
  const handled = useRef<{ shown?: string; branched?: string }>({});
  useEffect(() => {
    if (message === undefined) handled.current = {};
    if (message === undefined || messages.length === 0 || handled.current.shown === message) return undefined;
    const index = messages.findIndex(({ id }) => id === message);
    if (index === -1) {
      if (handled.current.branched === message || session.isBusy) return undefined;
      handled.current.branched = message;
      void session.showBranch(message).catch(() => undefined);
      return undefined;
    }
    if (index < first) {
      showFrom(index);
      return undefined;
    }
    handled.current.shown = message;
    release();
    const element = scroller.current?.querySelector<HTMLElement>(`[data-message=${JSON.stringify(message)}]`);
    const scroll = (): void => element?.scrollIntoView({ block: 'center' });
    scroll();
    element?.focus({ preventScroll: true });
    // Once more when the Markdown of the messages above has its final height.
    const timer = setTimeout(scroll, 300);
    return () => clearTimeout(timer);
  }, [message, messages, first, session, scroller, showFrom, release]);
}
