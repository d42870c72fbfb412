/** Unbounded queue for one reader, which may start after the first item was pushed. */
export class EventReader<Item> {
  #items: Item[] = [];
  #isOver = false;
  #wake: (() => void) | undefined;
  /** Whether `read` was called. */
  isReading = false;

  push(item: Item): void {
    this.#items.push(item);
    this.#wake?.();
  }

  end(): void {
    this.#isOver = true;
    this.#wake?.();
  }

  async *read(): AsyncGenerator<Item, void> {
    this.isReading = true;
    for (;;) {
      yield* this.#items.splice(0);
      if (this.#items.length > 0) continue;
      if (this.#isOver) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
