import { toFault, type AgentEvent, type AgentSource, type Answer, type Fault, type RunInput } from '@intertie/core';
import type { ChatMemory } from './chat-memory.ts';
import { createUIMessageEncoder, type UIMessageEncoderOptions } from './encode-ui-message-stream.ts';
import { slotKey } from './intertie-slot.ts';
import type { UIMessageChunkOf, UIMessageVersion } from './ui-message-chunk.ts';
import { validateUIMessageChunk } from './validate-ui-message-chunk.ts';

/** What of an encoder's options a door leaves to its user. */
export type ChatEncoderOptions<Version extends UIMessageVersion = UIMessageVersion> = Pick<
  UIMessageEncoderOptions<Version>,
  'version' | 'sendReasoning' | 'sendSources' | 'includeInternal' | 'staticTools' | 'onLoss'
>;

export interface ChatRunOptions<Version extends UIMessageVersion> extends ChatEncoderOptions<Version> {
  /** Stops the run. */
  signal: AbortSignal | undefined;
  memory: ChatMemory;
  /** What the page is told of an error that ended the run. */
  errorText: (error: Fault) => string;
}

/**
 * One run of a source as the chunks of its message, read on demand and each of them checked. The stream never errors: what
 * goes wrong is a chunk. The run stops with the signal, and when the reader leaves, since nobody else could read it.
 */
export function runChat<Version extends UIMessageVersion>(
  source: AgentSource,
  run: RunInput,
  options: ChatRunOptions<Version>,
): ReadableStream<UIMessageChunkOf<Version>> {
  const { signal, memory, errorText, ...encoding } = options;
  const encoder = createUIMessageEncoder<Version>({ ...encoding, baseline: 'assume' });
  const version: UIMessageVersion = encoding.version ?? 6;
  const remember = memory.watch(run.runId);
  const stop = new AbortController();
  const onAbort = (): void => stop.abort(signal?.reason);
  let events: ReadableStreamDefaultReader<AgentEvent>;
  let controller: ReadableStreamDefaultController<UIMessageChunkOf<Version>>;
  let isEmpty = true;
  let isOver = false;
  let invalid: Fault | undefined;

  const emit = (chunk: UIMessageChunkOf<Version>): void => {
    const problem = validateUIMessageChunk(chunk, version);
    if (problem === undefined) {
      isEmpty = false;
      return controller.enqueue(chunk);
    }
    const what = `The run cannot be shown: its chunk "${chunk.type}" is wrong`;
    invalid ??= { message: `${what} at "${problem.path}": ${problem.message}.`, code: 'invalid-chunk' };
  };

  const leave = (reason: unknown): void => {
    if (isOver) return;
    isOver = true;
    signal?.removeEventListener('abort', onAbort);
    // A source that has ended does not mind; one that goes on is told to stop.
    stop.abort(reason);
    events?.cancel(reason).catch(() => undefined);
  };

  const feed = (event: AgentEvent): void => {
    remember(event);
    if (event.type !== 'run-end') return encoder.feed(event, emit);
    // What the page answers next is told apart by it from what it has answered before.
    const waitingFor = event.outcome === 'paused' ? event.waitingFor : [];
    if (waitingFor.length > 0 || run.message) {
      encoder.feed({ type: 'metadata', metadata: { [slotKey]: { waitingFor } } }, emit);
    }
    const isError = event.outcome === 'error';
    encoder.feed(isError ? { ...event, error: shownFault(event.error, errorText) } : event, emit);
    finish();
  };

  const finish = (): void => {
    leave(undefined);
    controller.close();
  };

  const fail = (error: Fault): void => {
    encoder.end({ reason: 'error', error: shownFault(error, errorText) }, emit);
    finish();
  };

  const readOne = async (): Promise<void> => {
    let result: ReadableStreamReadResult<AgentEvent>;
    try {
      result = await events.read();
    } catch (error) {
      // A source’s stream never errors; this one did.
      return isOver ? undefined : fail(toFault(error));
    }
    if (isOver) return;
    if (result.done) {
      encoder.end({ reason: 'eof' }, emit);
      return finish();
    }
    feed(result.value);
    if (invalid !== undefined && !isOver) fail(invalid);
  };

  const isHungry = (): boolean => isEmpty && !isOver;

  return new ReadableStream(
    {
      start(own) {
        controller = own;
        if (signal?.aborted) onAbort();
        else signal?.addEventListener('abort', onAbort);
        try {
          events = source.run(run, controlOf(stop.signal)).getReader();
        } catch (error) {
          fail(toFault(error));
        }
      },
      async pull() {
        isEmpty = true;
        // oxlint-disable-next-line no-await-in-loop -- one event at a time is what back-pressure means
        while (isHungry()) await readOne();
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  );
}

/** Nothing is recorded here, so nothing is waited for; but after a stop no tool begins. */
function controlOf(signal: AbortSignal): Parameters<AgentSource['run']>[1] {
  return {
    signal,
    barrier: async () => signal.throwIfAborted(),
    liveAnswers: noAnswers(),
  };
}

/** A chat can only answer when its stream is over. */
async function* noAnswers(): AsyncGenerator<Answer> {
  // Nothing comes.
}

/** What is beside the message (a provider's response, a stack) is for the server's log and not for the page. */
function shownFault(error: Fault, errorText: (error: Fault) => string): Fault {
  const { data: _, ...fault } = error;
  return { ...fault, message: errorText(error) };
}
