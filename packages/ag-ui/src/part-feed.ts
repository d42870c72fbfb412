import { endByAbort, toFault, type End } from '@intertie/core';
import type { AGUIEvent } from './ag-ui-event.ts';
import type { EventFeed, EventSink } from './event-feed.ts';
import { sayMore, type MoreWords } from './more-words.ts';
import type { PartCodec } from './part-codec.ts';

export interface PartFeedOptions {
  parts: () => AsyncIterable<unknown> | ReadableStream<unknown>;
  codec: PartCodec;
  signal?: AbortSignal;
}

export interface PartFeed extends EventFeed {
  /** Once more, and it tells another from then on. */
  open(sink: EventSink): void;
  /**
   * What reads one part, or hears that the run was stopped, and gives what `then` says. For whoever wants one event at a time:
   * most parts are one, and that is given to `then` and not to the sink.
   */
  readonly steps: <T>(then: (event?: AGUIEvent) => T | Promise<T>) => () => Promise<T>;
  leave(reason: unknown): void;
}

/** One for all runs: where it was made says nothing, and to find that out is a tenth of what a short run costs. */
let runIsOver: DOMException | undefined;

/**
 * What `streamText` says, as the events of one run: parts are read one at a time and when asked for. Never fails, and ends
 * with the run, whatever the parts do then.
 */
export function partFeed(options: PartFeedOptions): PartFeed {
  const { codec, signal } = options;
  const { more = () => undefined } = codec;
  /** How more of the last part is told. */
  let words: MoreWords | undefined;
  let sink: EventSink;
  let isOpen = false;
  let reader: PartReader | undefined;
  let isOver = false;
  let onStopped: (() => void) | undefined;

  const write = (event: AGUIEvent): void => sink.event(event);
  const leave = (reason: unknown): boolean => {
    if (isOver) return false;
    isOver = true;
    signal?.removeEventListener('abort', onAbort);
    try {
      // Also what was never read is told that nobody will.
      (reader ?? readParts(options.parts())).leave(reason);
    } catch {
      // There is nothing to leave.
    }
    return true;
  };

  const finish = (end: End): void => {
    if (!leave((runIsOver ??= new DOMException('The run is over.', 'AbortError')))) return;
    try {
      codec.end(end, write);
    } catch (error) {
      return sink.fail(error);
    }
    sink.end();
  };
  const fail = (error: unknown): void => finish({ reason: 'error', error: toFault(error) });
  const onAbort = (): void => {
    finish(endByAbort(signal?.reason));
    onStopped?.();
  };

  /** The words of a part that is more of the last and nothing else, as most are. One that says nothing is no event. */
  const wordsOf = ({ done, value }: IteratorResult<unknown>): string | undefined => {
    const delta = isOver || done || words === undefined ? undefined : more(value);
    return delta === '' ? undefined : delta;
  };
  /** All that is not. */
  const take = ({ done, value }: IteratorResult<unknown>): void => {
    if (isOver) return;
    if (!done) words = codec.feed(value, write);
    if (done || codec.isEnded()) finish({ reason: 'eof' });
  };
  // Promises without `async`, here and below: one part is one step, and there are many.
  const ask = (): Promise<IteratorResult<unknown>> => {
    reader ??= readParts(options.parts());
    // One that answers at once is no promise, and `for await` would take it too.
    return Promise.resolve(reader.parts.next());
  };
  const read = (): void => {
    try {
      ask().then(onRead, fail);
    } catch (error) {
      fail(error);
    }
  };
  const onRead = (result: IteratorResult<unknown>): void => {
    try {
      const delta = wordsOf(result);
      if (delta === undefined) take(result);
      else {
        words!.kept?.add(delta);
        if (sink.more === undefined) sink.event(sayMore(words!, delta));
        else sink.more(delta, words!);
      }
      if (!isOver && sink.ready()) read();
    } catch (error) {
      fail(error);
    }
  };

  let after: ((event?: AGUIEvent) => unknown) | undefined;
  const onPart = (result: IteratorResult<unknown>): unknown => {
    let event: AGUIEvent | undefined;
    try {
      const delta = wordsOf(result);
      if (delta === undefined) take(result);
      else {
        words!.kept?.add(delta);
        event = sayMore(words!, delta);
      }
    } catch (error) {
      fail(error);
    }
    return after?.(event);
  };
  const onFailed = (error: unknown): unknown => {
    fail(error);
    return after?.();
  };
  const step = (): Promise<unknown> => {
    try {
      return ask().then(onPart, onFailed);
    } catch (error) {
      return Promise.resolve(onFailed(error));
    }
  };

  return {
    open(own) {
      sink = own;
      if (isOpen) return;
      isOpen = true;
      if (signal?.aborted) {
        codec.flush(write);
        return onAbort();
      }
      signal?.addEventListener('abort', onAbort);
      codec.flush(write);
    },
    read() {
      if (isOver) sink.end();
      else read();
    },
    steps<T>(then: (event?: AGUIEvent) => T | Promise<T>): () => Promise<T> {
      after = then;
      if (!signal) return step as () => Promise<T>;
      // A promise for each step, and none for the run: one that waits for the stop would keep what waits for it.
      return () =>
        new Promise((resolve) => {
          let told: T | Promise<T> | undefined;
          after = onStopped = (event?: AGUIEvent) => resolve((told ??= then(event)));
          void step();
        });
    },
    leave(reason) {
      if (leave(reason)) codec.leave();
    },
  };
}

interface PartReader {
  /** Asked directly: there are many parts. Some answer at once. */
  parts: { next(): PromiseLike<IteratorResult<unknown>> | IteratorResult<unknown> };
  /** Not waited for: the parts may be stuck. Their failure to stop is nobody's business any more. */
  leave(reason: unknown): void;
}

/** A stream by its reader: its iterator is slower, and not every platform has one. */
function readParts(parts: AsyncIterable<unknown> | ReadableStream<unknown>): PartReader {
  if ('getReader' in parts) {
    const reader = parts.getReader();
    return {
      parts: { next: () => reader.read() },
      leave: (reason) => void reader.cancel(reason).catch(() => undefined),
    };
  }
  const iterator = parts[Symbol.asyncIterator]();
  return {
    parts: iterator,
    leave: (reason) => void Promise.resolve(iterator.return?.(reason)).catch(() => undefined),
  };
}
