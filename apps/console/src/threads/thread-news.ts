const listeners = new Set<() => void>();

/** Something happened to the threads: who lists them should look. */
export function tellThreads(): void {
  for (const listener of listeners) listener();
}

export function onThreads(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
