/**
 * Stream with several readers, each from the beginning: the first one, and clients that reconnect to a running chat. The source
 * is read at the pace of the fastest reader, and its items are buffered until it ends.
 */
export class SharedStream<Item> {
  #reader: ReadableStreamDefaultReader<Item>;
  #items: Item[] = [];
  #reading: Promise<void> | undefined;
  #isOver = false;
  #error: { error: unknown } | undefined;
  #readers = 0;
  #whenLeft: 'stop' | 'continue';
  #onOver: () => void;

  constructor(source: ReadableStream<Item>, options: { whenLeft: 'stop' | 'continue'; onOver: () => void }) {
    this.#reader = source.getReader();
    this.#whenLeft = options.whenLeft;
    this.#onOver = options.onOver;
  }

  open(): ReadableStream<Item> {
    let next = 0;
    this.#readers += 1;
    return new ReadableStream<Item>(
      {
        pull: async (controller) => {
          if (next >= this.#items.length && !this.#isOver) await this.#readOne();
          if (next < this.#items.length) {
            controller.enqueue(this.#items[next] as Item);
            next += 1;
          } else if (this.#error !== undefined) controller.error(this.#error.error);
          else controller.close();
        },
        cancel: (reason) => this.#leave(reason),
      },
      { highWaterMark: 0 },
    );
  }

  /** Reads one item for all waiting readers. */
  #readOne(): Promise<void> {
    this.#reading ??= this.#read().finally(() => void (this.#reading = undefined));
    return this.#reading;
  }

  async #read(): Promise<void> {
    try {
      const { done, value } = await this.#reader.read();
      if (done) this.#end();
      else this.#items.push(value);
    } catch (error) {
      this.#error = { error };
      this.#end();
    }
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onOver();
  }

  async #leave(reason: unknown): Promise<void> {
    this.#readers -= 1;
    if (this.#readers > 0 || this.#isOver) return;
    if (this.#whenLeft === 'stop') {
      this.#end();
      return this.#reader.cancel(reason);
    }
    void this.#readOn();
  }

  /** Continues without readers, because a client may reconnect. */
  async #readOn(): Promise<void> {
    // oxlint-disable-next-line no-await-in-loop -- sequential reads
    while (this.#readers === 0 && !this.#isOver) await this.#readOne();
  }
}
