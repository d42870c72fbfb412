import { pullStream } from '@intertie/core/internal';

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
  #onDisconnect: 'stop' | 'continue';
  #onOver: () => void;

  constructor(source: ReadableStream<Item>, options: { onDisconnect: 'stop' | 'continue'; onOver: () => void }) {
    this.#reader = source.getReader();
    this.#onDisconnect = options.onDisconnect;
    this.#onOver = options.onOver;
  }

  open(): ReadableStream<Item> {
    let next = 0;
    this.#readers += 1;
    return pullStream<Item>({
      pull: async (emit) => {
        if (next >= this.#items.length && !this.#isOver) await this.#readOne();
        if (next < this.#items.length) {
          emit(this.#items[next] as Item);
          next += 1;
          return true;
        }
        if (this.#error !== undefined) throw this.#error.error;
        return false;
      },
      cancel: (reason) => this.#leave(reason),
    });
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
    if (this.#onDisconnect === 'stop') {
      this.#end();
      return this.#reader.cancel(reason);
    }
    void this.#readOn();
  }

  /** Continues without readers, because a client may reconnect. */
  async #readOn(): Promise<void> {
    while (this.#readers === 0 && !this.#isOver) await this.#readOne();
  }
}
