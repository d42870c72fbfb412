import { iterate } from '../stream/iterate.ts';

/** Input of a source: a stream or an async iterable of protocol frames, or a function that opens one. */
export type SourceInput<In> =
  | ReadableStream<In>
  | AsyncIterable<In>
  | ((signal: AbortSignal) => Opened<In> | Promise<Opened<In>>);
type Opened<In> = ReadableStream<In> | AsyncIterable<In>;

export interface InputReader<In> {
  /** Reads the next item, and opens the input first if necessary. Calls must not overlap. */
  read(): Promise<IteratorResult<In, unknown>>;
  /** Cancels the input once, whether it is unopened, being opened, being read or idle. No effect after its end. */
  cancel(reason: unknown): void;
}

/** Creates one reader for all kinds of input. The signal of an opening function aborts when the reader is cancelled. */
export function readInput<In>(input: SourceInput<In>): InputReader<In> {
  const stop = new AbortController();
  let iterator: AsyncIterator<In> | undefined;
  let over = false;

  const open = async (): Promise<AsyncIterator<In>> => {
    const opened = toIterator(typeof input === 'function' ? await input(stop.signal) : input);
    // Cancelled while it was being opened.
    if (over) closeInput(opened, stop.signal.reason);
    return opened;
  };

  return {
    async read() {
      try {
        iterator ??= await open();
        const result = await iterator.next();
        if (result.done) over = true;
        return result;
      } catch (error) {
        over = true;
        throw error;
      }
    },
    cancel(reason) {
      if (over) return;
      over = true;
      stop.abort(reason);
      if (iterator !== undefined) closeInput(iterator, reason);
      else if (typeof input !== 'function') closeInput(input, reason);
    },
  };
}

function toIterator<In>(input: Opened<In>): AsyncIterator<In> {
  return 'getReader' in input ? iterate(input) : input[Symbol.asyncIterator]();
}

/** Does not wait and ignores errors: the input may be stuck, and its items are no longer needed. */
function closeInput<In>(input: AsyncIterator<In> | Opened<In>, reason: unknown): void {
  const stop = async (): Promise<void> => {
    const iterator = 'next' in input ? input : toIterator(input);
    await iterator.return?.(reason);
  };
  stop().catch(() => {});
}
