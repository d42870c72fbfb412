import { endByAbort, iterate, toFault, type AgentEvent, type Codec, type End } from '@intertie/core';
import type { AGUIEvent } from './ag-ui-event.ts';

export interface GenerateAGUIOptions {
  parts: () => AsyncIterable<unknown>;
  codec: Codec<unknown, AgentEvent>;
  encoder: Codec<AgentEvent, AGUIEvent>;
  now: () => number;
  signal?: AbortSignal;
}

/**
 * What `toAGUI` streams, as a generator without a stream between: each of those costs more than the codecs. It never throws,
 * and ends with the run, whatever the parts do then.
 */
export async function* generateAGUI(options: GenerateAGUIOptions): AsyncGenerator<AGUIEvent, void, undefined> {
  const { codec, encoder, now, signal } = options;
  let out: AGUIEvent[] = [];
  let isOver = false;
  let iterator: AsyncIterator<unknown> | undefined;
  const write = (event: AGUIEvent): void => void out.push(event);
  const emit = (event: AgentEvent): void => {
    if (isOver) return;
    isOver = event.type === 'run-end';
    const isTimed = event.at !== undefined || event.type.endsWith('-delta');
    encoder.feed(isTimed ? event : { ...event, at: now() }, write);
  };
  const take = (): AGUIEvent[] => {
    const taken = out;
    out = [];
    return taken;
  };
  const stopped = signal && untilAborted(signal);

  /** Why there is nothing more to read; undefined while there is. */
  const readOne = async (): Promise<End | undefined> => {
    try {
      iterator ??= iteratorOf(options.parts());
      const next = iterator.next();
      const result = stopped ? await Promise.race([next, stopped]) : await next;
      if (result === 'stopped') return endByAbort(signal?.reason);
      if (result.done) return { reason: 'eof' };
      codec.feed(result.value, emit);
      return isOver ? { reason: 'eof' } : undefined;
    } catch (error) {
      return { reason: 'error', error: toFault(error) };
    }
  };

  try {
    codec.flush?.(emit);
    yield* take();
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- one part after the other
      const end = await readOne();
      if (end) codec.end(end, emit);
      for (const event of take()) yield event;
      if (!end) continue;
      encoder.end({ reason: 'eof' }, write);
      return yield* take();
    }
  } finally {
    // Whoever leaves, or the run's end: what the parts would still say is nobody's business.
    Promise.resolve(iterator?.return?.()).catch(() => undefined);
  }
}

/** Not every platform's streams can be iterated. */
function iteratorOf(parts: AsyncIterable<unknown> | ReadableStream<unknown>): AsyncIterator<unknown> {
  return Symbol.asyncIterator in parts ? parts[Symbol.asyncIterator]() : iterate(parts as ReadableStream<unknown>);
}

function untilAborted(signal: AbortSignal): Promise<'stopped'> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve('stopped');
    else signal.addEventListener('abort', () => resolve('stopped'), { once: true });
  });
}
