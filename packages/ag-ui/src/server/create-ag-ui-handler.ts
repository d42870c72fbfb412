import {
  generateId,
  isDurableAgent,
  RunRefusedError,
  serveDurableRun,
  StoreError,
  toFault,
  type AgentEvent,
  type AgentSource,
  type Answer,
  type Codec,
  type DurableAgent,
  type Emit,
  type End,
  type RunControl,
} from '@intertie/core';
import { RequestBodyError, toRunHeaders, withPublicFaults } from '@intertie/core/http';
import { pullStream } from '@intertie/core/internal';
import type { Decision } from '@intertie/core/store';
import type { AGUIHandlerOptions, DurableAGUIHandlerOptions } from './ag-ui-handler-options.ts';
import { accepts } from '../wire/ag-ui-binary.ts';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import { aguiSSEHeaders, writeAGUISSE } from '../wire/ag-ui-sse.ts';
import { DurableAGUIHandler, type RunResponse } from './durable-ag-ui-handler.ts';
import { createAGUIEncoder } from '../encode/encode-ag-ui.ts';
import { defined, asNonEmptyText } from '../shared/read-fields.ts';
import { encodeInterrupt } from '../shared/interrupt.ts';
import { readRunAgentInput, RequestError } from './read-run-agent-input.ts';
import { toRunInput } from '../messages/to-run-input.ts';

type Handler = (request: Request) => Promise<Response>;

const defaultKeepAliveMs = 15_000;

/**
 * Creates an endpoint for unmodified AG-UI clients: `export const POST = createAGUIHandler(source)`. Invalid requests get an
 * error status before any stream starts.
 *
 * With an `AgentSource`, nothing is stored: the client sends the history, and a run stops when its client disconnects.
 *
 * With a `DurableAgent`, the history comes from the store and a run continues when its client disconnects. `POST` with the same
 * run id, or `GET ?threadId=`, joins the run: a snapshot, then live events. `GET ?threadId=&replay=true` streams only the last
 * answer from its start, for `AGUIChatTransport`; 204 if there is none to resume. With `&runId=` it streams the named run, for
 * `agUiSource` in another process. `DELETE ?threadId=` stops the latest run, with `&runId=` the named one.
 */
export function createAGUIHandler(agent: DurableAgent, options?: DurableAGUIHandlerOptions): Handler;
export function createAGUIHandler(source: AgentSource, options?: AGUIHandlerOptions): Handler;
export function createAGUIHandler(
  target: AgentSource | DurableAgent,
  options: AGUIHandlerOptions | DurableAGUIHandlerOptions = {},
): Handler {
  if (isDurableAgent(target)) return durableHandler(target, options as DurableAGUIHandlerOptions);
  return sourceHandler(target, options as AGUIHandlerOptions);
}

function durableHandler(agent: DurableAgent, options: DurableAGUIHandlerOptions): Handler {
  const handler = new DurableAGUIHandler(agent, options);

  const openStream = async (request: Request): Promise<RunResponse | null> => {
    if (request.method === 'POST') return handler.run(await readRunAgentInput(request, options.limits), request);
    const { query, threadId, runId } = readQuery(request);
    const client = defined({ runId, protocolVersion: asNonEmptyText(query.get('protocolVersion')) });
    return query.get('replay') === 'true' ? handler.replay(threadId, client) : handler.connect(threadId, client);
  };

  return withErrorResponses(['GET', 'POST', 'DELETE'], async (request) => {
    if (request.method === 'DELETE') {
      const { threadId, runId } = readQuery(request);
      return Response.json(await serveDurableRun(agent, { type: 'stop', threadId, runId }));
    }
    const response = await openStream(request);
    if (response === null) return new Response(null, { status: 204 });
    const { events, ids } = response;
    return respond(events, request, options, ids && toRunHeaders(ids));
  });
}

function sourceHandler(source: AgentSource, options: AGUIHandlerOptions): Handler {
  const { prepare, limits, errorText, ...remaining } = options;
  const { generateId: createId = generateId, now = Date.now, protocolVersion: assumed, ...encoding } = remaining;
  const { onLoss = () => undefined } = encoding;

  return withErrorResponses(['POST'], async (request) => {
    const input = await readRunAgentInput(request, limits);
    const { protocolVersion = assumed, messages } = input;
    const run = toRunInput(input, { generateId: createId, now, onLoss });
    const prepared = await prepare?.(run, { request, input });
    const encoder = withPublicFaults(
      createAGUIEncoder({ ...encoding, messages, ...(protocolVersion !== undefined && { protocolVersion }) }),
      { runId: run.runId, errorText },
    );
    const stop = new AbortController();
    const events = source.run({ ...run, ...prepared }, createControl(AbortSignal.any([request.signal, stop.signal])));
    // Not every platform aborts the request when the client disconnects, so cancelling the response stops the run too.
    const encoded = encodeEvents(events, encoder, (reason) => stop.abort(reason));
    return respond(encoded, request, options, toRunHeaders({ runId: run.runId }));
  });
}

/** Reads the thread and optional run that a GET or DELETE request names. */
function readQuery(request: Request): { query: URLSearchParams; threadId: string; runId: string | undefined } {
  const query = new URL(request.url).searchParams;
  const threadId = asNonEmptyText(query.get('threadId'));
  if (threadId === undefined)
    throw new RequestError(`${request.method} requires the query parameter \`threadId\`.`, 422);
  return { query, threadId, runId: asNonEmptyText(query.get('runId')) };
}

/** Streams the events in the format that the client accepts: protobuf or server-sent events. */
function respond(
  events: ReadableStream<AGUIEvent>,
  request: Request,
  { keepAliveMs = defaultKeepAliveMs, protobuf }: AGUIHandlerOptions | DurableAGUIHandlerOptions,
  headers: Record<string, string> | undefined,
): Response {
  if (!protobuf || !accepts(protobuf, request)) {
    const bytes = writeAGUISSE(events, { keepAliveMs });
    return new Response(bytes, { headers: { ...aguiSSEHeaders, ...headers } });
  }
  // Clients compare the complete media type, so no parameters may follow it.
  const frames = new TransformStream<AGUIEvent, Uint8Array>({
    transform: (event, controller) => controller.enqueue(protobuf.frame(event)),
  });
  return new Response(events.pipeThrough(frames), {
    headers: { ...aguiSSEHeaders, 'content-type': protobuf.mediaType, ...headers },
  });
}

/** Encodes the events of a run, read on demand. Never errors: a source that fails ends the run with its terminal event. */
function encodeEvents(
  events: ReadableStream<AgentEvent>,
  encoder: Codec<AgentEvent, AGUIEvent>,
  onCancel: (reason: unknown) => void,
): ReadableStream<AGUIEvent> {
  const reader = events.getReader();
  let isCancelled = false;
  /** Encodes one event. Returns the reason if it was the last. */
  const readOne = async (emit: Emit<AGUIEvent>): Promise<End | undefined> => {
    try {
      const { done, value } = await reader.read();
      if (done) return { reason: 'eof' };
      encoder.feed(value, emit);
      return undefined;
    } catch (error) {
      reader.cancel().catch(() => undefined);
      return { reason: 'error', error: toFault(error, 'ADAPTER_ERROR') };
    }
  };
  return pullStream<AGUIEvent>({
    async pull(emit) {
      const end = await readOne(emit);
      if (end && !isCancelled) encoder.end(end, emit);
      return !end;
    },
    cancel(reason) {
      isCancelled = true;
      onCancel(reason);
      return reader.cancel(reason);
    },
  });
}

/** Wraps a handler: checks the method, and converts errors that the request caused to responses. */
function withErrorResponses(methods: readonly string[], handle: Handler): Handler {
  return async (request) => {
    if (!methods.includes(request.method)) {
      const message = `Method ${request.method} is not allowed. Send POST with a RunAgentInput.`;
      return Response.json({ error: { message } }, { status: 405, headers: { allow: methods.join(', ') } });
    }
    try {
      return await handle(request);
    } catch (error) {
      if (error instanceof Response) return error;
      if (error instanceof RequestBodyError) return error.toResponse();
      if (error instanceof RunRefusedError) return toRefusalResponse(error);
      const isRequestError = error instanceof RequestError || (error instanceof StoreError && error.code === 'invalid');
      if (!isRequestError) throw error;
      const status = error instanceof RequestError ? error.status : 422;
      return Response.json({ error: { message: error.message } }, { status });
    }
  };
}

/** Converts a refusal to a response. If questions are open, it lists them as interrupts, so that the client can answer. */
function toRefusalResponse({ refusal, status, message, retryAfter }: RunRefusedError): Response {
  const { code } = refusal;
  const pending = refusal.code === 'pending' ? toPendingFields(refusal.decisions) : {};
  const headers: HeadersInit = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
  return Response.json({ error: { code, message, ...pending } }, { status, headers });
}

function toPendingFields(decisions: readonly Decision[]): object {
  const interrupts = decisions.flatMap((open) => ('question' in open ? [encodeInterrupt(open.question)] : []));
  const pendingToolCallIds = decisions.flatMap((open) => (open.kind === 'client-tool' ? [open.toolCallId] : []));
  return { interrupts, pendingToolCallIds };
}

/** Creates the control of a run without a store: no log to wait for, but no tool starts after a stop. */
function createControl(signal: AbortSignal): RunControl {
  return { signal, barrier: async () => signal.throwIfAborted(), liveAnswers: noAnswers() };
}

/** Yields nothing: without a store, a client can answer only with its next request. */
async function* noAnswers(): AsyncGenerator<Answer> {}
