/** Calls again and again until the function it returns is called. It keeps no program alive by itself. */
export function every(ms: () => number, work: () => Promise<void>): () => void {
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
