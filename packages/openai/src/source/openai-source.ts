import {
  compose,
  seal,
  sourceStream,
  type AgentEvent,
  type AgentSource,
  type Codec,
  type Json,
  type JsonObject,
  type OnLoss,
  type SourceStreamOptions,
} from '@intertie/core';
import { asFields, asNonEmptyText, asNumber, defined, isHandOver, omit } from '@intertie/core/internal';
import type { Waiting } from '@intertie/core/store';
import { createResponsesDecoder } from '../decode/decode-responses.ts';
import {
  cancelResponse,
  readResponse,
  ServerError,
  type ResponsePosition,
  type ResponsesServer,
} from './request-response.ts';
import { toRequestBody } from './to-request-body.ts';

export type OpenAISourceOptions = ResponsesServer & {
  /** Model of the server: of OpenAI a model, of an Intertie server an agent. */
  model: string;
  /** Name of the source. Default: the model. */
  name?: string;
  /**
   * Whether the server continues a response when the connection is lost, so that the source can return to it. Default: true. Set it
   * to false for servers without background mode; their runs end as `lost` if the process dies.
   */
  background?: boolean;
  /** Further fields of each request, for example `reasoning` or `max_output_tokens`. */
  request?: JsonObject;
  /** Maximum time without an event, in milliseconds. */
  idleMs?: number;
  onFrame?: SourceStreamOptions['onFrame'];
  onLoss?: OnLoss;
};

/**
 * Creates a source from a server of the Responses API. A run whose connection or process is lost continues after the last event with
 * `starting_after`. A paused run continues with `previous_response_id`.
 */
export function openaiSource(options: OpenAISourceOptions): AgentSource {
  const { model, name = model, background = true, request, idleMs, onFrame, onLoss = () => undefined } = options;
  const streamOptions = { remote: name, ...defined({ idleMs, onFrame }) };

  const read = async function* (
    begin: Parameters<typeof readResponse>[1],
    leave: AbortSignal,
    stop: AbortSignal,
  ): AsyncGenerator<JsonObject> {
    let responseId = 'from' in begin ? begin.from.responseId : undefined;
    const cancel = (): void => {
      // Another process continues a run that is handed over.
      if (responseId === undefined || isHandOver(stop)) return;
      cancelResponse(options, responseId).catch(() => undefined);
    };
    stop.addEventListener('abort', cancel, { once: true });
    try {
      for await (const event of readResponse(options, begin, leave)) {
        responseId ??= asNonEmptyText(asFields(event.response).id);
        yield event;
      }
    } finally {
      stop.removeEventListener('abort', cancel);
    }
  };

  return {
    name,
    pauses: 'token',
    run(run, { signal }) {
      const body = toRequestBody(run, { model, background, request });
      const codec = compose(createResponsesDecoder(run, { checkpoints: background, onLoss }), seal(run, onLoss));
      return sourceStream((leave) => read({ body }, leave, signal), codec, { signal, ...streamOptions });
    },
    canResume: (token) => readPosition(token) !== undefined,
    resume(run, from, { signal }) {
      const sealed = seal(run, onLoss, { log: from.events });
      const position = readPosition(from.token);
      if (position === undefined) return sourceStream(() => endedInput, compose(endAsLost, sealed), { signal });
      // Events after the last checkpoint are decoded again, and must get the ids that they have in the log.
      const before = { message: from.message, events: from.events.slice(0, findLastCheckpoint(from.events)) };
      const waiting = listWaiting(before.events);
      const decoder = createResponsesDecoder(omit(run, 'epoch'), { checkpoints: true, waiting, onLoss, from: before });
      const codec = compose(compose(decoder, skipLogged(from.events)), sealed);
      const open = (leave: AbortSignal): AsyncIterable<unknown> =>
        withLostError(read({ from: position }, leave, signal));
      return sourceStream(open, codec, { signal, ...streamOptions });
    },
  };
}

function readPosition(token: Json | undefined): ResponsePosition | undefined {
  const { responseId, sequence } = asFields(token);
  const id = asNonEmptyText(responseId);
  return id === undefined ? undefined : { responseId: id, sequence: asNumber(sequence) ?? 0 };
}

function findLastCheckpoint(log: readonly AgentEvent[]): number {
  return log.findLastIndex(({ type }) => type === 'checkpoint');
}

/** Calls and questions of the response that are not answered at the end of the events. */
function listWaiting(events: readonly AgentEvent[]): Waiting[] {
  const waiting = new Map<string, Waiting>();
  for (const event of events) {
    if (event.type === 'tool-call' && event.executor === 'client') {
      waiting.set(event.toolCallId, { type: 'tool', toolCallId: event.toolCallId });
    }
    if (event.type === 'question') waiting.set(event.questionId, { type: 'question', questionId: event.questionId });
    if (event.type === 'tool-result') waiting.delete(event.toolCallId);
  }
  return [...waiting.values()];
}

/**
 * Drops the decoded events that the log has after its last checkpoint. Deltas are compared by length, because the log may contain
 * several of them as one.
 */
function skipLogged(log: readonly AgentEvent[]): Codec<AgentEvent, AgentEvent> {
  const logged = new Map<string, number>();
  for (const event of log.slice(findLastCheckpoint(log) + 1)) {
    logged.set(toKey(event), (logged.get(toKey(event)) ?? 0) + measure(event));
  }
  return {
    feed(event, emit) {
      const known = logged.get(toKey(event)) ?? 0;
      if (known === 0) return emit(event);
      const size = measure(event);
      logged.set(toKey(event), Math.max(0, known - size));
      if ('delta' in event && size > known) emit({ ...event, delta: event.delta.slice(known) });
    },
    end: () => undefined,
  };
}

function toKey(event: AgentEvent): string {
  const { id, toolCallId, questionId } = event as { id?: string; toolCallId?: string; questionId?: string };
  return JSON.stringify([event.type, id, toolCallId, questionId]);
}

function measure(event: AgentEvent): number {
  return 'delta' in event && typeof event.delta === 'string' ? event.delta.length : 1;
}

/** The run cannot continue if the server no longer has the events, or refuses to return them. */
async function* withLostError(events: AsyncIterable<unknown>): AsyncGenerator {
  try {
    yield* events;
  } catch (error) {
    if (!(error instanceof ServerError) || error.status < 400) throw error;
    const isGone = error.status === 404 || error.status === 410;
    const reason = isGone ? 'no longer has the response of this run' : 'did not return the response of this run';
    const message = `The server ${reason}. The output so far is kept. Send the message again.`;
    throw Object.assign(new Error(message, { cause: error }), { code: 'lost' });
  }
}

const endedInput: AsyncIterable<unknown> = { async *[Symbol.asyncIterator]() {} };

const endAsLost: Codec<unknown, AgentEvent> = {
  feed() {},
  end(_, emit) {
    const message = 'The process died before the server had confirmed the response. Send the message again.';
    emit({ type: 'run-end', outcome: 'error', error: { message, code: 'lost' } });
  },
};
