import {
  generateId,
  RunRefusedError,
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
import type { AGUIHandlerOptions, DurableAGUIHandlerOptions } from './ag-ui-handler-options.ts';
import { asksFor } from '../wire/ag-ui-binary.ts';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import { aguiSSEHeaders, writeAGUISSE } from '../wire/ag-ui-sse.ts';
import { DurableDoor, type Told } from './durable-ag-ui-handler.ts';
import { createAGUIEncoder } from '../encode/encode-ag-ui.ts';
import { defined, asNonEmptyText } from '../shared/read-fields.ts';
import { readRunAgentInput, RequestProblem } from './read-run-agent-input.ts';
import { refuseRun } from './refuse-run.ts';
import { runOfInput } from '../messages/read-run-input.ts';

type Handler = (request: Request) => Promise<Response>;

const defaultKeepAliveMs = 15_000;

/**
 * A whole endpoint for an unmodified AG-UI client: `export const POST = createAGUIHandler(source)`. What is wrong with a
 * request is said with a status, before any stream begins.
 *
 * With a source nothing is stored: the history is what the client sends, an answer with resolved interrupts or results goes
 * on from there, and a run ends when its client leaves.
 *
 * With an agent whose runs are kept, the history is the store's, a run goes on whoever leaves, and a client that names it
 * again, or connects with `GET ?threadId=`, is told how it stands and what comes. With `&replay=true` it is told the last
 * answer alone, from its beginning, as `AGUIChatTransport` wants it; 204 where none is under way. `DELETE ?threadId=` stops
 * the run, or with `&runId=` that one.
 */
export function createAGUIHandler(agent: DurableAgent, options?: DurableAGUIHandlerOptions): Handler;
export function createAGUIHandler(source: AgentSource, options?: AGUIHandlerOptions): Handler;
export function createAGUIHandler(
  target: AgentSource | DurableAgent,
  options: AGUIHandlerOptions | DurableAGUIHandlerOptions = {},
): Handler {
  if ('forScope' in target) return durableHandler(target, options as DurableAGUIHandlerOptions);
  return sourceHandler(target, options as AGUIHandlerOptions);
}

function durableHandler(agent: DurableAgent, options: DurableAGUIHandlerOptions): Handler {
  const { limits } = options;
  const door = new DurableDoor(agent, options);

  const tell = async (request: Request): Promise<Told | null> => {
    if (request.method === 'POST') return door.run(await readRunAgentInput(request, limits), request);
    const { query, threadId, runId } = named(request);
    const protocolVersion = asNonEmptyText(query.get('protocolVersion'));
    const client = defined({ runId, protocolVersion });
    return query.get('replay') === 'true' ? door.replay(threadId, client) : door.connect(threadId, client);
  };

  return answering(['GET', 'POST', 'DELETE'], async (request) => {
    if (request.method === 'DELETE') {
      const { threadId, runId } = named(request);
      return Response.json(await door.stop(threadId, runId));
    }
    const told = await tell(request);
    if (told === null) return new Response(null, { status: 204 });
    const { events, run } = told;
    const headers = run && toRunHeaders(run);
    return respond(events, request, options, headers);
  });
}

function sourceHandler(source: AgentSource, options: AGUIHandlerOptions): Handler {
  const { prepare, limits, errorText, ...rest } = options;
  const { generateId: mint = generateId, now = Date.now, protocolVersion: assumed, ...encoding } = rest;
  const { onLoss = () => undefined } = encoding;

  return answering(['POST'], async (request) => {
    const input = await readRunAgentInput(request, limits);
    const { protocolVersion = assumed, messages } = input;
    const run = runOfInput(input, { generateId: mint, now, onLoss });
    const prepared = await prepare?.(run, { request, input });
    const encoder = withPublicFaults(
      createAGUIEncoder({ ...encoding, messages, ...(protocolVersion !== undefined && { protocolVersion }) }),
      { runId: run.runId, errorText },
    );
    const stop = new AbortController();
    const events = source.run({ ...run, ...prepared }, controlOf(AbortSignal.any([request.signal, stop.signal])));
    // Not every platform aborts the request when the client disconnects, so cancelling the response stops the run too.
    const encoded = encodeEvents(events, encoder, (reason) => stop.abort(reason));
    return respond(encoded, request, options, toRunHeaders({ runId: run.runId }));
  });
}

/** The thread, and perhaps the run, that a request without a body is about. */
function named(request: Request): { query: URLSearchParams; threadId: string; runId: string | undefined } {
  const query = new URL(request.url).searchParams;
  const threadId = asNonEmptyText(query.get('threadId'));
  if (threadId === undefined) throw new RequestProblem(`${request.method} says \`?threadId=\`: which thread.`, 422);
  return { query, threadId, runId: asNonEmptyText(query.get('runId')) };
}

/** The events in the form that the client reads. */
function respond(
  events: ReadableStream<AGUIEvent>,
  request: Request,
  { keepAliveMs = defaultKeepAliveMs, protobuf }: AGUIHandlerOptions | DurableAGUIHandlerOptions,
  headers: Record<string, string> | undefined,
): Response {
  if (!protobuf || !asksFor(protobuf, request)) {
    const bytes = writeAGUISSE(events, { keepAliveMs });
    return new Response(bytes, { headers: { ...aguiSSEHeaders, ...headers } });
  }
  // Clients compare the media type as a whole: nothing may stand behind it.
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
  return new ReadableStream<AGUIEvent>(
    {
      async pull(controller) {
        const encoded: AGUIEvent[] = [];
        const emit = (event: AGUIEvent): void => void encoded.push(event);
        let end: End | undefined;
        // oxlint-disable-next-line no-await-in-loop -- back-pressure: one event at a time
        while (end === undefined && encoded.length === 0) end = await readOne(emit);
        if (isCancelled) return;
        if (end) encoder.end(end, emit);
        for (const event of encoded) controller.enqueue(event);
        if (end) controller.close();
      },
      cancel(reason) {
        isCancelled = true;
        onCancel(reason);
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

/** Says with a status what is wrong with a request. */
function answering(methods: readonly string[], answer: Handler): Handler {
  return async (request) => {
    if (!methods.includes(request.method)) {
      const message = `This route takes POST with a RunAgentInput, not ${request.method}.`;
      return Response.json({ error: { message } }, { status: 405, headers: { allow: methods.join(', ') } });
    }
    try {
      return await answer(request);
    } catch (error) {
      if (error instanceof Response) return error;
      if (error instanceof RequestBodyError) return error.toResponse();
      if (error instanceof RunRefusedError) return refuseRun(error);
      const isTheirs = error instanceof RequestProblem || (error instanceof StoreError && error.code === 'invalid');
      if (!isTheirs) throw error;
      const status = error instanceof RequestProblem ? error.status : 422;
      return Response.json({ error: { message: error.message } }, { status });
    }
  };
}

/** Nothing is recorded here, so nothing is waited for; but after a stop no tool begins. */
function controlOf(signal: AbortSignal): RunControl {
  return { signal, barrier: async () => signal.throwIfAborted(), liveAnswers: noAnswers() };
}

/** A client can only answer when its stream is over. */
async function* noAnswers(): AsyncGenerator<Answer> {
  // Nothing comes.
}
