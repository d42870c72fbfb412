/** What was said, for one reader who may come late, and the end of it. */
export class EventFeed<Item> {
  #items: Item[] = [];
  #isOver = false;
  #wake: (() => void) | undefined;
  /** Whether somebody reads it already. */
  isTaken = false;

  push(item: Item): void {
    this.#items.push(item);
    this.#wake?.();
  }

  end(): void {
    this.#isOver = true;
    this.#wake?.();
  }

  async *read(): AsyncGenerator<Item, void> {
    this.isTaken = true;
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
