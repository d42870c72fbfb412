import { createAlarm } from './alarm.ts';
import type { Codec, End } from './codec.ts';
import type { AgentEvent } from './event.ts';
import { readInput, type SourceInput } from './source-input.ts';
import { endByAbort } from './stop-reason.ts';
import { toFault } from './to-fault.ts';

export interface SourceStreamOptions<In = unknown> {
  /** Stops the run. Its reason may say who did and why: see `StopReason`. */
  signal?: AbortSignal;
  /** How long the input may be silent. Every item is a sign of life, also one that makes no event. */
  idleMs?: number;
  /** How long after the signal the input is still read, for the source's own last words. */
  drainMs?: number;
  /** How long a codec may hold back what it was fed before it is flushed. */
  flushMs?: number;
  /** The clock, for events that bring no time of their own. */
  now?: () => number;
  /** Is given every item of the input before it is decoded; the events that it causes carry its index as `origin`. */
  onFrame?: (frame: In, index: number) => void;
}

/**
 * The skin around a source's codecs: it reads, keeps the time, and decides what ended the run. The codec is synchronous and
 * does the rest.
 *
 * The stream never errors. The codec is flushed at once, so that the seal writes `run-start` before anything is read. The
 * input is read on demand, one item at a time, and cancelled exactly once: when the reader leaves, when the run is stopped,
 * or as soon as `run-end` is out, since many servers keep their end of the wire open.
 *
 * With an `encoder` the stream is what that makes of the events: one stream instead of two, each of which costs more than the
 * codecs do.
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
  const { signal, idleMs, drainMs = 0, flushMs, now = Date.now, onFrame, encoder } = options;
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
  const flush = createAlarm(flushMs, () => step(() => codec.flush?.(emit)));
  const drain = createAlarm(drainMs, () => finish({ reason: 'eof' }));

  const enqueue = (out: unknown): void => {
    emitted += 1;
    controller.enqueue(out);
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

  /** Whether this is the first time, and the last. */
  const leave = (reason: unknown): boolean => {
    if (over) return false;
    over = true;
    for (const alarm of [idle, flush, drain]) alarm.clear();
    signal?.removeEventListener('abort', onAbort);
    reader.cancel(reason);
    return true;
  };

  const finish = (why: End): void => {
    // Whatever happens after a stop was asked for happens because of it.
    const end = stopping ? endByAbort(signal?.reason) : why;
    if (!leave(new DOMException('The run is over.', 'AbortError'))) return;
    try {
      codec.end(end, emit);
    } catch (error) {
      emit({ type: 'run-end', outcome: 'error', error: toFault(error, 'codec') });
    }
    encoder?.end({ reason: 'eof' }, enqueue);
    controller.close();
  };

  const step = (work: () => void): void => {
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
      return finish({ reason: 'error', error: toFault(error) });
    }
    idle.clear();
    if (over) return;
    if (result.done) return finish({ reason: 'eof' });
    const frame = result.value;
    step(() => {
      onFrame?.(frame, frames);
      frames += 1;
      codec.feed(frame, emit);
    });
    if (!over) flush.set();
  };

  return new ReadableStream<unknown>(
    {
      start(streamController) {
        controller = streamController;
        step(() => codec.flush?.(emit));
        if (over) return;
        if (signal?.aborted) {
          // Nothing has begun, so there are no last words to wait for.
          stopping = true;
          finish({ reason: 'eof' });
        } else signal?.addEventListener('abort', onAbort);
      },
      async pull() {
        const before = emitted;
        let hungry = true;
        while (hungry) {
          // oxlint-disable-next-line no-await-in-loop -- one item at a time is what back-pressure means
          await readOne();
          hungry = !over && emitted === before;
        }
      },
      cancel(reason) {
        if (!leave(reason)) return;
        try {
          codec.end({ reason: 'aborted' }, () => {});
        } catch {
          // Nobody reads what it would have said.
        }
      },
    },
    { highWaterMark: 0 },
  );
}
