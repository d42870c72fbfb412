/** Calls `work` repeatedly, each time `ms` after the last call settled. Returns a function that stops it. Does not keep Node.js running. */
export function startAsyncInterval(ms: () => number, work: () => Promise<void>): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const schedule = (): void => {
    if (isOver) return;
    timer = setTimeout(() => void work().then(schedule, schedule), ms());
    (timer as { unref?: () => void }).unref?.();
  };
  schedule();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
