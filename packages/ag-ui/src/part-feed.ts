import { endByAbort, toFault, type AgentEvent, type Codec, type End } from '@intertie/core';
import type { AGUIEvent } from './ag-ui-event.ts';
import type { EventFeed, EventSink } from './event-feed.ts';

export interface PartFeedOptions {
  parts: () => AsyncIterable<unknown> | ReadableStream<unknown>;
  codec: Codec<unknown, AgentEvent>;
  encoder: Codec<AgentEvent, AGUIEvent>;
  now: () => number;
  signal?: AbortSignal;
}

/**
 * What `streamText` says, as the events of one run: parts are read one at a time and when asked for. Never fails, and ends
 * with the run, whatever the parts do then.
 */
export function partFeed(options: PartFeedOptions): EventFeed {
  const { codec, encoder, now, signal } = options;
  let sink: EventSink;
  let reader: PartReader | undefined;
  let isEnded = false;
  let isOver = false;

  const write = (event: AGUIEvent): void => sink.event(event);
  const emit = (event: AgentEvent): void => {
    if (isEnded) return;
    isEnded = event.type === 'run-end';
    const isTimed = event.at !== undefined || event.type.endsWith('-delta');
    encoder.feed(isTimed ? event : { ...event, at: now() }, write);
  };

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
    if (!leave(new DOMException('The run is over.', 'AbortError'))) return;
    try {
      codec.end(end, emit);
    } catch (error) {
      emit({ type: 'run-end', outcome: 'error', error: toFault(error, 'codec') });
    }
    encoder.end({ reason: 'eof' }, write);
    sink.end();
  };
  const fail = (error: unknown): void => finish({ reason: 'error', error: toFault(error) });
  const onAbort = (): void => finish(endByAbort(signal?.reason));

  const read = async (): Promise<void> => {
    reader ??= readParts(options.parts());
    do {
      // oxlint-disable-next-line no-await-in-loop -- one part after the other
      const { done, value } = await reader.next();
      if (isOver) return;
      if (done) return finish({ reason: 'eof' });
      codec.feed(value, emit);
      if (isEnded) return finish({ reason: 'eof' });
    } while (sink.ready());
  };

  return {
    open(own) {
      sink = own;
      if (signal?.aborted) {
        codec.flush?.(emit);
        return onAbort();
      }
      signal?.addEventListener('abort', onAbort);
      codec.flush?.(emit);
    },
    read() {
      if (isOver) sink.end();
      else read().catch(fail);
    },
    leave(reason) {
      if (!leave(reason)) return;
      try {
        codec.end({ reason: 'aborted' }, () => undefined);
      } catch {
        // Nobody reads what it would have said.
      }
    },
  };
}

interface PartReader {
  next(): Promise<IteratorResult<unknown, unknown>>;
  /** Not waited for: the parts may be stuck. Their failure to stop is nobody's business any more. */
  leave(reason: unknown): void;
}

/** A stream by its reader: its iterator is slower, and not every platform has one. */
function readParts(parts: AsyncIterable<unknown> | ReadableStream<unknown>): PartReader {
  if ('getReader' in parts) {
    const reader = parts.getReader();
    return {
      next: () => reader.read(),
      leave: (reason) => void reader.cancel(reason).catch(() => undefined),
    };
  }
  const iterator = parts[Symbol.asyncIterator]();
  return {
    next: () => iterator.next(),
    leave: (reason) => void Promise.resolve(iterator.return?.(reason)).catch(() => undefined),
  };
}
