const listeners = new Set<() => void>();

/** Notifies all listeners that a thread was created, changed or deleted. */
export function notifyThreadsChanged(): void {
  for (const listener of listeners) listener();
}

export function onThreadsChanged(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
