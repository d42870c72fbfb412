import { iterate } from '@intertie/core';
import type { WriteQueue } from './write-queue.ts';

/** Item among the parts that marks a write; handled by `withWrites`. */
export const writeSignal: unique symbol = Symbol('writeSignal');

type Parts = AsyncIterable<unknown> | ReadableStream<unknown>;
type Result = IteratorResult<unknown, unknown>;

/**
 * Merges parts with a `writeSignal` per write, so that an event is sent immediately and not with the next part: while a tool
 * runs, its model emits nothing. At most one part is requested at a time. `withWrites` closes the queue at the end of the run.
 */
export class MergedParts implements AsyncIterableIterator<unknown> {
  #iterator: AsyncIterator<unknown, unknown>;
  #queue: WriteQueue;
  #isReading = false;
  /** Settles a waiting `next()` with the part that has arrived. */
  #settle: ((waiting: Deferred<Result>) => void) | undefined;
  #waiting: Deferred<Result> | undefined;

  constructor(parts: Parts, queue: WriteQueue) {
    this.#iterator = 'getReader' in parts ? iterate(parts) : parts[Symbol.asyncIterator]();
    this.#queue = queue;
    queue.onWrite = () => this.#deliver();
  }

  next(): Promise<Result> {
    const waiting = deferred<Result>();
    this.#waiting = waiting;
    this.#deliver();
    if (this.#waiting && !this.#isReading) this.#readPart();
    return waiting.promise;
  }

  async return(reason?: unknown): Promise<Result> {
    this.#waiting?.resolve({ done: true, value: undefined });
    this.#waiting = undefined;
    await this.#iterator.return?.(reason);
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #readPart(): void {
    this.#isReading = true;
    const arrive = (settle: (waiting: Deferred<Result>) => void): void => {
      this.#settle = settle;
      this.#deliver();
    };
    this.#iterator.next().then(
      (result) => arrive(({ resolve }) => resolve(result)),
      (error: unknown) => arrive(({ reject }) => reject(error)),
    );
  }

  /** Delivers the write signal or the part. Writes go first: they precede a part that arrives now. */
  #deliver(): void {
    const waiting = this.#waiting;
    if (waiting === undefined || (this.#queue.isEmpty && this.#settle === undefined)) return;
    this.#waiting = undefined;
    if (!this.#queue.isEmpty) return waiting.resolve({ done: false, value: writeSignal });
    const settle = this.#settle!;
    this.#settle = undefined;
    this.#isReading = false;
    settle(waiting);
  }
}

type Deferred<T> = {
  promise: Promise<T>;
  resolve: (value: T) => void;
  reject: (error: unknown) => void;
};

/** Replaces `Promise.withResolvers`, which the oldest supported Node version lacks. */
function deferred<T>(): Deferred<T> {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  return { promise, resolve, reject };
}
