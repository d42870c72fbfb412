import type { Event, Message } from '@ag-ui/core';
import { createFullStreamDecoder, type ToolExecutors } from '@intertie/ai-sdk';
import { compose, generateId, iterate, seal, sourceStream, type Json, type RunInput } from '@intertie/core';
import { publicFaults, type FaultView } from '@intertie/core/http';
import type { AGUIEvent, AGUIRunInput } from '../shared/ag-ui-event.ts';
import type { AGUIEncoderOptions } from '../encode/ag-ui-encoder-options.ts';
import type { AGUIWriter } from './ag-ui-writer.ts';
import { createAGUIEncoder } from '../encode/encode-ag-ui.ts';
import { defined, isFields } from '../shared/read-fields.ts';
import { runOfInput } from '../messages/read-run-input.ts';
import { writeInto } from './write-into.ts';

/** What `streamText` gives back, in `ai` 6 (`fullStream`) and 7 (`stream`). */
export type StreamTextLike =
  | { readonly fullStream: AsyncIterable<unknown> }
  | { readonly stream: AsyncIterable<unknown> };

export interface ToAGUIOptions extends AGUIEncoderOptions {
  /** The request: its ids, its history, and the version of its client. */
  input?: AGUIRunInput;
  /** Default: those of `input`, else fresh ones. */
  threadId?: string;
  runId?: string;
  parentRunId?: string;
  state?: Json;
  /** The tool set of the call: who runs a tool is known as soon as it is called. */
  tools?: ToolExecutors;
  /** What adds events of yours to this run, and to no other: see `createAGUIWriter`. */
  writer?: AGUIWriter;
  /** Stops the run. */
  signal?: AbortSignal;
  generateId?: () => string;
  now?: () => number;
}

/**
 * Converts a `streamText` result to a stream of AG-UI events. The stream never errors, ends with exactly one terminal event, is
 * read on demand, and can be iterated. The protocol version is the option's, else the one of `input`.
 */
export function toAGUI(result: StreamTextLike, options: ToAGUIOptions = {}): ReadableStream<Event> {
  const events = encodeStreamText(result, options) as ReadableStream<Event>;
  // Leaving this iterator cancels the stream at once; the platform's waits for a pending read first.
  return Object.assign(events, { [Symbol.asyncIterator]: () => iterate(events) });
}

/** Decodes, seals and encodes a `streamText` result as one stream. With `shown`, the text of provider errors is hidden. */
export function encodeStreamText(
  result: StreamTextLike,
  options: ToAGUIOptions,
  shown?: Pick<FaultView, 'errorText'>,
): ReadableStream<AGUIEvent> {
  const { messages: given, ...encoding } = options;
  const { input, protocolVersion = input?.protocolVersion, tools, signal, now } = encoding;
  const { onLoss = () => undefined, snapshot = false } = encoding;
  const run = runOf(options);
  // Only a snapshot needs the messages: with them the encoder keeps everything that the run emits.
  const messages = snapshot || encoding.baseline === 'restate' ? (given ?? input?.messages) : undefined;
  const encoder = createAGUIEncoder({ ...encoding, ...defined({ protocolVersion, messages }) });
  const { parts, decoder } = writeInto(
    { parts: readParts(result), decoder: createFullStreamDecoder(run, { ...defined({ tools }), onLoss }) },
    options.writer,
    { run, onLoss },
  );
  const sealed = compose(decoder, seal(run, onLoss));
  const codec = shown ? compose(sealed, publicFaults({ runId: run.runId, ...shown })) : sealed;
  return sourceStream(parts, codec, { encoder, ...defined({ signal, now }) });
}

function runOf(options: ToAGUIOptions): RunInput {
  const { generateId: mint = generateId, now = Date.now, onLoss = () => undefined, input, messages } = options;
  const { threadId = input?.threadId ?? mint(), runId = input?.runId ?? mint() } = options;
  const asked: AGUIRunInput = {
    ...input,
    threadId,
    runId,
    messages: input?.messages ?? ((messages ?? []) as Message[]),
    ...defined({ parentRunId: options.parentRunId ?? input?.parentRunId }),
  };
  const run = runOfInput(asked, { generateId: mint, now, onLoss });
  // `null`, `0` and `false` are states too.
  return options.state === undefined ? run : { ...run, state: options.state };
}

/** Returns the parts of a result. A result without a stream fails the run when the parts are read. */
function readParts(result: StreamTextLike): AsyncIterable<unknown> {
  try {
    return findStream(result);
  } catch (error) {
    return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }) };
  }
}

function findStream(result: StreamTextLike): AsyncIterable<unknown> {
  const stream: unknown = isFields(result) ? ('stream' in result ? result.stream : result.fullStream) : undefined;
  if (isFields(stream) && (Symbol.asyncIterator in stream || 'getReader' in stream)) {
    return stream as unknown as AsyncIterable<unknown>;
  }
  const message = 'There is no stream to read. Pass the result of streamText, not a promise or its text.';
  throw Object.assign(new TypeError(message), { code: 'ADAPTER_ERROR' });
}
