import {
  toFault,
  type AgentEvent,
  type AgentSource,
  type Emit,
  type EventOf,
  type Fault,
  type RunInput,
} from '@intertie/core';
import { pullStream } from '@intertie/core/internal';
import { toPublicEvent, toPublicFault, type FaultView } from '@intertie/core/http';
import { toRunEndEvents } from './run-end-events.ts';
import type { ChatMemory } from './chat-memory.ts';
import { createUIMessageEncoder } from '../../ui-message-stream/encode/encode-ui-message-stream.ts';
import type { UIMessageEncoderOptions } from '../../ui-message-stream/encode/ui-message-encoder-options.ts';
import { LiveRun } from './live-runs.ts';
import type { UIMessageChunkOf, UIMessageVersion } from '../../ui-message-stream/chunk/ui-message-chunk.ts';
import { validateUIMessageChunk } from '../../ui-message-stream/chunk/validate-ui-message-chunk.ts';

/** Encoder options that a chat handler or transport passes through. */
export type ChatEncoderOptions<Version extends UIMessageVersion = UIMessageVersion> = Pick<
  UIMessageEncoderOptions<Version>,
  'version' | 'sendReasoning' | 'sendSources' | 'includeInternal' | 'staticTools' | 'onLoss'
>;

export interface RunChatOptions<Version extends UIMessageVersion> extends ChatEncoderOptions<Version> {
  /** Stops the run. */
  signal: AbortSignal | undefined;
  memory: ChatMemory;
  /** Text of an error for the page. Default: a generic sentence with the run id. */
  errorText?: ((error: Fault) => string) | undefined;
}

/**
 * Runs a source and returns its message as validated UI message chunks, read on demand. The stream never errors: failures
 * become an `error` chunk. The run stops with the signal, and when the reader cancels, since no other reader can follow it.
 *
 * A chat can only answer after its stream has ended. If a source waits inside the process (`pauses: 'live'`), the stream
 * therefore ends like that of a paused run, while the run stays in memory and the next request continues it.
 */
export function runChat<Version extends UIMessageVersion>(
  source: AgentSource,
  run: RunInput,
  options: RunChatOptions<Version>,
): ReadableStream<UIMessageChunkOf<Version>> {
  const { signal, memory, errorText, ...encoding } = options;
  const encoder = createUIMessageEncoder<Version>({ ...encoding, baseline: 'assume' });
  const version: UIMessageVersion = encoding.version ?? 6;
  const onAbort = (): void => live.stop(signal?.reason);
  let live: LiveRun;
  let enqueue: Emit<UIMessageChunkOf<Version>>;
  let isOver = false;
  let invalid: Fault | undefined;

  const view = (): FaultView => ({ runId: live?.runId ?? run.runId, errorText });
  const encode = (event: AgentEvent): void => encoder.feed(toPublicEvent(event, view()), emit);

  const emit = (chunk: UIMessageChunkOf<Version>): void => {
    const problem = validateUIMessageChunk(chunk, version);
    if (problem === undefined) return enqueue(chunk);
    const what = `The run cannot be shown: its chunk "${chunk.type}" is invalid`;
    invalid ??= { message: `${what} at "${problem.path}": ${problem.message}.`, code: 'invalid-chunk' };
  };

  const finish = (): void => {
    isOver = true;
    signal?.removeEventListener('abort', onAbort);
  };

  const fail = (error: Fault): void => {
    encoder.end({ reason: 'error', error: toPublicFault(error, view()) }, emit);
    finish();
    live?.abandon(error);
  };

  const end = (event: EventOf<'run-end'>): void => {
    const isContinuation = run.message !== undefined;
    for (const endEvent of toRunEndEvents(event, { isContinuation })) encode(endEvent);
    // The last chunk of the encoder was invalid.
    if (invalid !== undefined) emit({ type: 'error', errorText: toPublicFault(invalid, view()).message });
    finish();
  };

  const feed = (event: AgentEvent): void => {
    live.observe(event);
    if (event.type === 'run-end') {
      end(event);
      return live.end();
    }
    encode(event);
    if (source.pauses === 'live') pauseIfWaiting();
  };

  const pauseIfWaiting = (): void => {
    const { waitingFor } = live;
    if (waitingFor.length === 0) return;
    end({ type: 'run-end', outcome: 'paused', waitingFor });
    memory.live.add(run.threadId, live);
  };

  const begin = (): void => {
    const waiting = memory.live.claim(run);
    live = waiting ?? new LiveRun(source, run, memory.watch(run.runId));
    if (waiting === undefined) return;
    const { threadId, messageId, message } = run;
    encoder.feed({ type: 'run-start', runId: live.runId, threadId, messageId, resumes: live.runId }, emit);
    if (message) encoder.feed({ type: 'message-snapshot', content: message }, emit);
    for (const answer of run.answers) if ('questionId' in answer) live.answer(answer);
    pauseIfWaiting();
  };

  const onRead = (result: ReadableStreamReadResult<AgentEvent>): void => {
    if (isOver) return;
    if (result.done) {
      encoder.end({ reason: 'eof' }, emit);
      finish();
      return live.end();
    }
    feed(result.value);
    if (!isOver && invalid !== undefined) fail(invalid);
  };
  // Sources report errors as events. A stream that errors nevertheless is a failed run.
  const onError = (error: unknown): void => (isOver ? undefined : fail(toFault(error)));

  return pullStream({
    start(emitChunk) {
      enqueue = emitChunk;
      try {
        begin();
      } catch (error) {
        return fail(toFault(error));
      }
      if (isOver) return;
      if (signal?.aborted) onAbort();
      else signal?.addEventListener('abort', onAbort);
    },
    async pull() {
      if (!isOver) await live.events.read().then(onRead, onError);
      return !isOver;
    },
    cancel(reason) {
      if (isOver) return;
      isOver = true;
      signal?.removeEventListener('abort', onAbort);
      live.abandon(reason);
    },
  });
}
