/**
 * A browser has six connections to a server for all its tabs, and what waits for one waits for ever if they are all held. So of
 * all tabs one holds a connection of a kind (`hold`); the others make do without (`otherwise`), and ask again later.
 */
export async function withWire<T>(kind: string, hold: () => Promise<T>, otherwise: () => Promise<T>): Promise<T> {
  // Outside of a secure context there are no locks.
  const locks = globalThis.navigator?.locks as LockManager | undefined;
  if (locks === undefined) return hold();
  return locks.request(`intertie:${kind}`, { ifAvailable: true }, (lock) => (lock === null ? otherwise() : hold()));
}

/** Resolves when the page can be seen, or the signal says that nobody wants to know. */
export async function whenSeen(signal: AbortSignal): Promise<void> {
  if (globalThis.document?.visibilityState !== 'hidden') return;
  await new Promise<void>((resolve) => {
    document.addEventListener('visibilitychange', () => resolve(), { once: true, signal });
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** A signal of its own, which also aborts when the page is hidden: a page that nobody sees lets its connections go. */
export function untilHidden(signal: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const over = AbortSignal.any([signal, controller.signal]);
  globalThis.document?.addEventListener(
    'visibilitychange',
    () => {
      if (document.visibilityState === 'hidden') controller.abort();
    },
    { signal: over },
  );
  return over;
}

/** How long a page may be hidden before it lets a connection go: who looks elsewhere for a moment comes back to it. */
const graceMs = 4000;

/** Calls back when the page has been hidden for a while. The function that is returned takes that back. */
export function onLongHidden(callback: () => void): () => void {
  const page = globalThis.document as Document | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = (): void => {
    clearTimeout(timer);
    if (page?.visibilityState === 'hidden') timer = setTimeout(callback, graceMs);
  };
  look();
  page?.addEventListener('visibilitychange', look);
  return () => {
    clearTimeout(timer);
    page?.removeEventListener('visibilitychange', look);
  };
}
