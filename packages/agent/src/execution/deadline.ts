/** The longest time that a timer knows; more would be taken for none. */
const maxMs = 2 ** 31 - 1;

/** How long somebody waits for something to end by itself. It can only become shorter. */
export class Patience {
  #until = Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;
  #lose: () => void = () => undefined;
  #lost: Promise<void> = new Promise((resolve) => void (this.#lose = resolve));

  limit(ms: number): void {
    const until = performance.now() + ms;
    if (this.#isOver || until >= this.#until) return;
    this.#until = until;
    clearTimeout(this.#timer);
    if (ms <= 0) this.#lose();
    else this.#timer = setTimeout(this.#lose, Math.min(ms, maxMs));
  }

  /** Resolves when the work is done, or when nobody wants to wait for it any longer. */
  async wait(work: Promise<void>): Promise<void> {
    await Promise.race([this.#lost, work]);
    this.#isOver = true;
    clearTimeout(this.#timer);
  }
}
