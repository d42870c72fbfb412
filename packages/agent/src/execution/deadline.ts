/** `setTimeout` treats a longer delay as none. */
const maxMs = 2 ** 31 - 1;

/** Deadline for work to end. It can be shortened, never extended. */
export class Deadline {
  #until = Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;
  #expire: () => void = () => undefined;
  #expired: Promise<void> = new Promise((resolve) => void (this.#expire = resolve));

  shorten(ms: number): void {
    const until = performance.now() + ms;
    if (this.#isOver || until >= this.#until) return;
    this.#until = until;
    clearTimeout(this.#timer);
    if (ms <= 0) this.#expire();
    else this.#timer = setTimeout(this.#expire, Math.min(ms, maxMs));
  }

  /** Resolves when the work is done or the deadline has passed. */
  async wait(work: Promise<void>): Promise<void> {
    await Promise.race([this.#expired, work]);
    this.#isOver = true;
    clearTimeout(this.#timer);
  }
}
