import { iterate } from '@intertie/core';
import type { WriteQueue } from './write-queue.ts';

/** Stands among the parts where something was written: `withWrites` knows it. */
export const wrote: unique symbol = Symbol('wrote');

type Parts = AsyncIterable<unknown> | ReadableStream<unknown>;
type Result = IteratorResult<unknown, unknown>;

/**
 * Parts, and a sign whenever something was written, so that it is told at once and not with the next part: while a tool
 * works its model says nothing. One part is asked for at a time, as before. `withWrites` closes the queue at the run's end.
 */
export class MergedParts implements AsyncIterableIterator<unknown> {
  #iterator: AsyncIterator<unknown, unknown>;
  #queue: WriteQueue;
  #isAsked = false;
  /** Hands over the part that has come. */
  #arrived: ((waiting: Deferred<Result>) => void) | undefined;
  #waiting: Deferred<Result> | undefined;

  constructor(parts: Parts, queue: WriteQueue) {
    this.#iterator = 'getReader' in parts ? iterate(parts) : parts[Symbol.asyncIterator]();
    this.#queue = queue;
    queue.onWrite = () => this.#give();
  }

  next(): Promise<Result> {
    const waiting = deferred<Result>();
    this.#waiting = waiting;
    this.#give();
    if (this.#waiting && !this.#isAsked) this.#ask();
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

  #ask(): void {
    this.#isAsked = true;
    const arrive = (hand: (waiting: Deferred<Result>) => void): void => {
      this.#arrived = hand;
      this.#give();
    };
    this.#iterator.next().then(
      (result) => arrive(({ resolve }) => resolve(result)),
      (error: unknown) => arrive(({ reject }) => reject(error)),
    );
  }

  /** What was written goes first: it was there before the part that comes now. */
  #give(): void {
    const waiting = this.#waiting;
    if (waiting === undefined || (this.#queue.isEmpty && this.#arrived === undefined)) return;
    this.#waiting = undefined;
    if (!this.#queue.isEmpty) return waiting.resolve({ done: false, value: wrote });
    const hand = this.#arrived!;
    this.#arrived = undefined;
    this.#isAsked = false;
    hand(waiting);
  }
}

type Deferred<T> = {
  promise: Promise<T>;
  resolve: (value: T) => void;
  reject: (error: unknown) => void;
};

/** `Promise.withResolvers` is younger than the oldest Node that we run on. */
function deferred<T>(): Deferred<T> {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  return { promise, resolve, reject };
}
