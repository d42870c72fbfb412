import type { Event, Message } from '@ag-ui/core';
import { createFullStreamDecoder, type ToolExecutors } from '@intertie/ai-sdk';
import {
  compose,
  generateId,
  iterate,
  seal,
  sourceStream,
  type AgentEvent,
  type Codec,
  type Json,
  type OnLoss,
  type RunInput,
} from '@intertie/core';
import type { SourceInput } from '@intertie/core/internal';
import { publicFaults, type FaultView } from '@intertie/core/http';
import type { AGUIEvent, AGUIRunInput } from '../shared/ag-ui-event.ts';
import type { AGUIEncoderOptions } from '../encode/ag-ui-encoder-options.ts';
import { createAGUIEncoder } from '../encode/encode-ag-ui.ts';
import { defined, isFields } from '../shared/read-fields.ts';
import { toRunInput } from '../messages/to-run-input.ts';
import { bindWriter, type AGUIWriter } from './ag-ui-writer.ts';
import { MergedParts } from './merged-parts.ts';
import { withWrites } from './with-writes.ts';

/** Result of `streamText`, in `ai` 6 (`fullStream`) and 7 (`stream`). */
export type StreamTextLike =
  | { readonly fullStream: AsyncIterable<unknown> }
  | { readonly stream: AsyncIterable<unknown> };

export interface ToAGUIOptions extends AGUIEncoderOptions {
  /** The request: its ids, history, and protocol version. */
  input?: AGUIRunInput;
  /** Default: the ids of `input`, else new ones. */
  threadId?: string;
  runId?: string;
  parentRunId?: string;
  state?: Json;
  /** Tool set of the call, which determines who executes a tool as soon as it is called. */
  tools?: ToolExecutors;
  /** Writer that adds your own events to this run. Create one per run with `createAGUIWriter`. */
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
  // Leaving this iterator cancels the stream immediately; the platform's iterator waits for a pending read.
  return Object.assign(events, { [Symbol.asyncIterator]: () => iterate(events) });
}

/** Decodes, seals and encodes a `streamText` result. With `faultView`, the text of provider errors is hidden. */
export function encodeStreamText(
  result: StreamTextLike,
  options: ToAGUIOptions,
  faultView?: Pick<FaultView, 'errorText'>,
): ReadableStream<AGUIEvent> {
  const { messages: given, ...encoding } = options;
  const { input, protocolVersion = input?.protocolVersion, tools, signal, now } = encoding;
  const { onLoss = () => undefined, snapshot = false } = encoding;
  const run = buildRunInput(options);
  // Only a snapshot needs the messages: with them, the encoder buffers everything that the run emits.
  const messages = snapshot || encoding.baseline === 'restate' ? (given ?? input?.messages) : undefined;
  const encoder = createAGUIEncoder({ ...encoding, ...defined({ protocolVersion, messages }) });
  const { parts, decoder } = addWriter(
    { parts: readParts(result), decoder: createFullStreamDecoder(run, { ...defined({ tools }), onLoss }) },
    options.writer,
    { run, onLoss },
  );
  const sealed = compose(decoder, seal(run, onLoss));
  const codec = faultView ? compose(sealed, publicFaults({ runId: run.runId, ...faultView })) : sealed;
  return sourceStream(parts, codec, { encoder, ...defined({ signal, now }) });
}

/** Input of a run and its decoder. */
interface DecodedInput {
  parts: SourceInput<unknown>;
  decoder: Codec<unknown, AgentEvent>;
}

/** Adds the events of a writer to a run. A writer that belongs to another run fails the run when its parts are read. */
function addWriter(
  input: DecodedInput & { parts: AsyncIterable<unknown> },
  writer: AGUIWriter | undefined,
  { run, onLoss }: { run: RunInput; onLoss: OnLoss },
): DecodedInput {
  if (writer === undefined) return input;
  const queue = bindWriter(writer, onLoss);
  if (queue instanceof Error) return { ...input, parts: () => Promise.reject(queue) };
  return { parts: new MergedParts(input.parts, queue), decoder: withWrites(input.decoder, queue, run) };
}

function buildRunInput(options: ToAGUIOptions): RunInput {
  const { generateId: createId = generateId, now = Date.now, onLoss = () => undefined, input, messages } = options;
  const { threadId = input?.threadId ?? createId(), runId = input?.runId ?? createId() } = options;
  const request: AGUIRunInput = {
    ...input,
    threadId,
    runId,
    messages: input?.messages ?? ((messages ?? []) as Message[]),
    ...defined({ parentRunId: options.parentRunId ?? input?.parentRunId }),
  };
  const run = toRunInput(request, { generateId: createId, now, onLoss });
  // `null`, `0` and `false` are valid states.
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
  const message = 'The result has no stream. Pass the result of streamText, not a promise or its text.';
  throw Object.assign(new TypeError(message), { code: 'ADAPTER_ERROR' });
}
