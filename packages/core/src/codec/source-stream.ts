import { createAlarm } from '../stream/alarm.ts';
import { nameBrokenConnection } from './broken-connection.ts';
import type { Codec, End } from './codec.ts';
import type { AgentEvent } from '../event/event.ts';
import { findSealedRun, markSealedStream } from './sealed-stream.ts';
import { readInput, type SourceInput } from './source-input.ts';
import { toAbortEnd } from './stop-reason.ts';
import { toFault } from '../event/to-fault.ts';

export interface SourceStreamOptions<In = unknown> {
  /** Stops the run. Its reason can name the user and the cause: see `StopReason`. */
  signal?: AbortSignal;
  /** Maximum time between two items of the input, even if an item emits no event. Default: no limit. */
  idleMs?: number;
  /** Time after an abort in which the input is still read, for the last events of the source. Default: 0. */
  drainMs?: number;
  /** Maximum time that the codec holds events back before it is flushed. Default: no limit. */
  flushMs?: number;
  /** Clock for events that have no time of their own. Deltas get none. Default: `Date.now`. */
  now?: () => number;
  /** Receives every item of the input before it is decoded. Its events carry the index as `origin`. */
  onFrame?: (frame: In, index: number) => void;
  /** Name of the remote agent that the input is read from, for the error of a run whose connection breaks. */
  remote?: string;
}

/**
 * Reads an input through a codec that ends with a seal. The stream never errors: whatever fails ends the run.
 *
 * The codec is flushed immediately, so that the seal writes `run-start` before anything is read. The input is read on demand, one
 * item at a time, and cancelled exactly once: when the reader cancels, when the run is stopped, or as soon as `run-end` is
 * emitted, since many servers never close their side of the connection.
 *
 * With an `encoder` the stream contains the output of that encoder instead of the events.
 */
export function sourceStream<In, Out>(
  input: SourceInput<In>,
  codec: Codec<In, AgentEvent>,
  options: SourceStreamOptions<In> & { encoder: Codec<AgentEvent, Out> },
): ReadableStream<Out>;
export function sourceStream<In>(
  input: SourceInput<In>,
  codec: Codec<In, AgentEvent>,
  options?: SourceStreamOptions<In>,
): ReadableStream<AgentEvent>;
export function sourceStream<In>(
  input: SourceInput<In>,
  codec: Codec<In, AgentEvent>,
  options: SourceStreamOptions<In> & { encoder?: Codec<AgentEvent, unknown> } = {},
): ReadableStream<unknown> {
  const { signal, idleMs, drainMs = 0, flushMs, now = Date.now, onFrame, remote, encoder } = options;
  const reader = readInput(input);
  let controller: ReadableStreamDefaultController<unknown>;
  let emitted = 0;
  let frames = 0;
  let runEnded = false;
  let stopping = false;
  let over = false;

  const idle = createAlarm(idleMs, () =>
    finish({ reason: 'error', error: { message: `The source was silent for ${idleMs} ms.`, code: 'idle' } }),
  );
  const flush = createAlarm(flushMs, () => runSafely(() => codec.flush?.(emit)));
  const drain = createAlarm(drainMs, () => finish({ reason: 'eof' }));

  const enqueue = (output: unknown): void => {
    emitted += 1;
    controller.enqueue(output);
  };

  const emit = (event: AgentEvent): void => {
    if (runEnded) return;
    runEnded = event.type === 'run-end';
    const origin = onFrame && frames > 0 && event.origin === undefined ? { origin: frames - 1 } : undefined;
    const at = event.at === undefined && !event.type.endsWith('-delta') ? { at: now() } : undefined;
    const timed = origin || at ? { ...event, ...at, ...origin } : event;
    if (encoder) encoder.feed(timed, enqueue);
    else enqueue(timed);
  };

  /** Returns false if the stream is over already. */
  const release = (reason: unknown): boolean => {
    if (over) return false;
    over = true;
    for (const alarm of [idle, flush, drain]) alarm.clear();
    signal?.removeEventListener('abort', onAbort);
    reader.cancel(reason);
    return true;
  };

  const finish = (why: End): void => {
    // After an abort every end counts as the abort, because the source may fail in its own way when it is stopped.
    const end = stopping ? toAbortEnd(signal?.reason) : why;
    if (!release(new DOMException('The run is over.', 'AbortError'))) return;
    try {
      codec.end(end, emit);
    } catch (error) {
      emit({ type: 'run-end', outcome: 'error', error: toFault(error, 'codec') });
    }
    encoder?.end({ reason: 'eof' }, enqueue);
    controller.close();
  };

  const runSafely = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      return finish({ reason: 'error', error: toFault(error, 'codec') });
    }
    if (runEnded) finish({ reason: 'eof' });
  };

  const onAbort = (): void => {
    stopping = true;
    if (drainMs > 0) drain.set();
    else finish({ reason: 'eof' });
  };

  const readOne = async (): Promise<void> => {
    idle.set();
    let result: IteratorResult<In, unknown>;
    try {
      result = await reader.read();
    } catch (error) {
      const named = remote === undefined ? error : nameBrokenConnection(error, remote, frames > 0);
      return finish({ reason: 'error', error: toFault(named) });
    }
    idle.clear();
    if (over) return;
    if (result.done) return finish({ reason: 'eof' });
    const frame = result.value;
    runSafely(() => {
      onFrame?.(frame, frames);
      frames += 1;
      codec.feed(frame, emit);
    });
    if (!over) flush.set();
  };

  const output = new ReadableStream<unknown>(
    {
      start(streamController) {
        controller = streamController;
        runSafely(() => codec.flush?.(emit));
        if (over) return;
        if (!signal?.aborted) return signal?.addEventListener('abort', onAbort);
        stopping = true;
        // An input that was not opened yet has no last events. A stream may have some.
        if (drainMs > 0 && typeof input !== 'function') drain.set();
        else finish({ reason: 'eof' });
      },
      async pull() {
        const before = emitted;
        let needsMore = true;
        while (needsMore) {
          await readOne();
          needsMore = !over && emitted === before;
        }
      },
      cancel(reason) {
        if (!release(reason)) return;
        try {
          codec.end({ reason: 'aborted' }, () => {});
        } catch {
          // The reader is gone, so there is no place to report it.
        }
      },
    },
    { highWaterMark: 0 },
  );
  const sealed = findSealedRun(codec);
  if (sealed && !encoder) markSealedStream({ events: output as ReadableStream<AgentEvent>, ...sealed, end: finish });
  return output;
}
