import { iterate } from '../stream/iterate.ts';

/** What a source reads: a stream or an iterable of the wire's frames, or the way to open one. */
export type SourceInput<In> =
  | ReadableStream<In>
  | AsyncIterable<In>
  | ((signal: AbortSignal) => Opened<In> | Promise<Opened<In>>);
type Opened<In> = ReadableStream<In> | AsyncIterable<In>;

export interface InputReader<In> {
  /** Opens the input if need be. One at a time. */
  read(): Promise<IteratorResult<In, unknown>>;
  /** Reaches the input once, whether it is unopened, being opened, read or idle; not if it is over. */
  cancel(reason: unknown): void;
}

/** One way to read all kinds of input. The signal that a function is given aborts when nobody waits for it any more. */
export function readInput<In>(input: SourceInput<In>): InputReader<In> {
  const stop = new AbortController();
  let iterator: AsyncIterator<In> | undefined;
  let over = false;

  const open = async (): Promise<AsyncIterator<In>> => {
    const opened = iteratorOf(typeof input === 'function' ? await input(stop.signal) : input);
    // It was cancelled while it was being opened.
    if (over) release(opened, stop.signal.reason);
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
      if (iterator !== undefined) release(iterator, reason);
      else if (typeof input !== 'function') release(input, reason);
    },
  };
}

function iteratorOf<In>(input: Opened<In>): AsyncIterator<In> {
  return 'getReader' in input ? iterate(input) : input[Symbol.asyncIterator]();
}

/** Not waited for: an input may be stuck. Its failure to stop is nobody's business any more. */
function release<In>(input: AsyncIterator<In> | Opened<In>, reason: unknown): void {
  const stop = async (): Promise<void> => {
    const iterator = 'next' in input ? input : iteratorOf(input);
    await iterator.return?.(reason);
  };
  stop().catch(() => {});
}
