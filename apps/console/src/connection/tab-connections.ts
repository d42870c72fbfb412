/**
 * Lets only one tab at a time hold a connection of a kind: browsers allow six HTTP/1.1 connections per server across all tabs, and
 * further requests wait. Calls `hold` if this tab gets the lock, otherwise `otherwise`.
 */
export async function withConnectionLock<T>(
  kind: string,
  hold: () => Promise<T>,
  otherwise: () => Promise<T>,
): Promise<T> {
  // Web Locks exist in secure contexts only.
  const locks = globalThis.navigator?.locks as LockManager | undefined;
  if (locks === undefined) return hold();
  return locks.request(`intertie:${kind}`, { ifAvailable: true }, (lock) => (lock === null ? otherwise() : hold()));
}

/** Resolves when the page is visible or the signal aborts. */
export async function waitUntilVisible(signal: AbortSignal): Promise<void> {
  if (globalThis.document?.visibilityState !== 'hidden') return;
  await new Promise<void>((resolve) => {
    document.addEventListener('visibilitychange', () => resolve(), { once: true, signal });
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Returns a signal that also aborts when the page is hidden, so that hidden pages release their connections. */
export function abortWhenHidden(signal: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const combined = AbortSignal.any([signal, controller.signal]);
  globalThis.document?.addEventListener(
    'visibilitychange',
    () => {
      if (document.visibilityState === 'hidden') controller.abort();
    },
    { signal: combined },
  );
  return combined;
}

/** Time a page may be hidden before it releases a connection, so that a short switch of tabs keeps it. */
const hiddenTimeoutMs = 4000;

/** Calls back when the page has been hidden for `hiddenTimeoutMs`. Returns a function that cancels. */
export function onHiddenTimeout(callback: () => void): () => void {
  const page = globalThis.document as Document | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const update = (): void => {
    clearTimeout(timer);
    if (page?.visibilityState === 'hidden') timer = setTimeout(callback, hiddenTimeoutMs);
  };
  update();
  page?.addEventListener('visibilitychange', update);
  return () => {
    clearTimeout(timer);
    page?.removeEventListener('visibilitychange', update);
  };
}
