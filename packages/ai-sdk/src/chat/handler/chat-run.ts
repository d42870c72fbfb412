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
import { chatEnd } from './chat-end.ts';
import type { ChatMemory } from './chat-memory.ts';
import { createUIMessageEncoder } from '../../ui-message-stream/encode/encode-ui-message-stream.ts';
import type { UIMessageEncoderOptions } from '../../ui-message-stream/encode/ui-message-encoder-options.ts';
import { LiveRun } from './live-runs.ts';
import type { UIMessageChunkOf, UIMessageVersion } from '../../ui-message-stream/chunk/ui-message-chunk.ts';
import { validateUIMessageChunk } from '../../ui-message-stream/chunk/validate-ui-message-chunk.ts';

/** What of an encoder's options a door leaves to its user. */
export type ChatEncoderOptions<Version extends UIMessageVersion = UIMessageVersion> = Pick<
  UIMessageEncoderOptions<Version>,
  'version' | 'sendReasoning' | 'sendSources' | 'includeInternal' | 'staticTools' | 'onLoss'
>;

export interface ChatRunOptions<Version extends UIMessageVersion> extends ChatEncoderOptions<Version> {
  /** Stops the run. */
  signal: AbortSignal | undefined;
  memory: ChatMemory;
  /** Text of an error for the page. Default: a generic sentence with the run id. */
  errorText?: ((error: Fault) => string) | undefined;
}

/**
 * One run of a source as the chunks of its message, read on demand and each of them checked. The stream never errors: what
 * goes wrong is a chunk. The run stops with the signal, and when the reader leaves, since nobody else could read it.
 *
 * A chat can only answer when its stream is over. So where a source waits inside the process, the stream is finished as that
 * of a paused run is, the run stays, and the next request goes on with it.
 */
export function runChat<Version extends UIMessageVersion>(
  source: AgentSource,
  run: RunInput,
  options: ChatRunOptions<Version>,
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
    const what = `The run cannot be shown: its chunk "${chunk.type}" is wrong`;
    invalid ??= { message: `${what} at "${problem.path}": ${problem.message}.`, code: 'invalid-chunk' };
  };

  const finish = (): void => {
    isOver = true;
    signal?.removeEventListener('abort', onAbort);
  };

  const fail = (error: Fault): void => {
    encoder.end({ reason: 'error', error: toPublicFault(error, view()) }, emit);
    finish();
    live?.drop(error);
  };

  const end = (event: EventOf<'run-end'>): void => {
    const isContinuation = run.message !== undefined;
    for (const said of chatEnd(event, { isContinuation })) encode(said);
    // The last chunk of the encoder was invalid.
    if (invalid !== undefined) emit({ type: 'error', errorText: toPublicFault(invalid, view()).message });
    finish();
  };

  const feed = (event: AgentEvent): void => {
    live.see(event);
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
    memory.live.keep(run.threadId, live);
  };

  const begin = (): void => {
    const waiting = memory.live.take(run);
    live = waiting ?? new LiveRun(source, run, memory.watch(run.runId));
    if (waiting === undefined) return;
    const { threadId, messageId, message } = run;
    encoder.feed({ type: 'run-start', runId: live.runId, threadId, messageId, resumes: live.runId }, emit);
    if (message) encoder.feed({ type: 'message-snapshot', content: message }, emit);
    for (const answer of run.answers) if ('questionId' in answer) live.answer(answer);
    pauseIfWaiting();
  };

  const take = (result: ReadableStreamReadResult<AgentEvent>): void => {
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
    start(own) {
      enqueue = own;
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
      if (!isOver) await live.events.read().then(take, onError);
      return !isOver;
    },
    cancel(reason) {
      if (isOver) return;
      isOver = true;
      signal?.removeEventListener('abort', onAbort);
      live.drop(reason);
    },
  });
}
