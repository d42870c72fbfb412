import type { PrepareRun } from '@intertie/ai-sdk';
import { generateId, type AgentSource, type Answer, type Fault, type RunControl } from '@intertie/core';
import type { AGUIRunInput } from './ag-ui-event.ts';
import { aguiSSEHeaders, writeAGUISSE } from './ag-ui-sse.ts';
import { encodeStream } from './encode-stream.ts';
import { createAGUIEncoder, type AGUIEncoderOptions } from './encode-ag-ui.ts';
import { readRunAgentInput, RequestProblem } from './read-run-agent-input.ts';
import { runOfInput } from './run-of-input.ts';
import { withFaultText } from './with-fault-text.ts';

export interface AGUIHandlerOptions extends Pick<
  AGUIEncoderOptions,
  'form' | 'timestamps' | 'stepNames' | 'sendReasoning' | 'sendInternal' | 'preliminary' | 'snapshot' | 'onLoss'
> {
  /** The version of a client that does not say its own. Default: what all of them take. */
  protocolVersion?: string;
  /** What a run is given beside the request. May throw a `Response` to refuse it. */
  prepare?: PrepareRun<{ request: Request; input: AGUIRunInput }>;
  /** What the client is told of an error that ended the run. Default: the error's message. */
  errorText?: (error: Fault) => string;
  /** After how long a silence a comment is sent, so that proxies keep the connection. Default: 15 seconds. */
  keepAliveMs?: number;
  /** How long a request may be, in bytes. Default: 32 MB, since files travel inside. */
  maxBodySize?: number;
  generateId?: () => string;
  now?: () => number;
}

/**
 * A whole endpoint for an unmodified AG-UI client: `export const POST = createAGUIHandler(source)`. Nothing is stored. The
 * history is what the client sends, an answer with resolved interrupts or results goes on from there, and a run ends when
 * its client leaves. What is wrong with a request is said with a status, before any stream begins.
 */
export function createAGUIHandler(
  source: AgentSource,
  options: AGUIHandlerOptions = {},
): (request: Request) => Promise<Response> {
  const { prepare, errorText, keepAliveMs = 15_000, maxBodySize = 32_000_000, ...rest } = options;
  const { generateId: mint = generateId, now = Date.now, protocolVersion: assumed, ...encoding } = rest;
  const { onLoss = () => undefined } = encoding;

  const answer = async (request: Request): Promise<Response> => {
    const input = await readRunAgentInput(request, maxBodySize);
    const { protocolVersion = assumed, messages } = input;
    const run = runOfInput(input, { generateId: mint, now, onLoss });
    const prepared = await prepare?.(run, { request, input });
    const encoder = createAGUIEncoder({
      ...encoding,
      messages,
      ...(protocolVersion !== undefined && { protocolVersion }),
    });
    const stop = new AbortController();
    const events = source.run({ ...run, ...prepared }, controlOf(AbortSignal.any([request.signal, stop.signal])));
    // Who leaves stops the run, also where the platform does not abort the request.
    const encoded = encodeStream(events, encoder, (reason) => stop.abort(reason));
    const bytes = writeAGUISSE(withFaultText(encoded, errorText), { keepAliveMs });
    return new Response(bytes, { headers: { ...aguiSSEHeaders, 'x-intertie-run': run.runId } });
  };

  return async (request) => {
    if (request.method !== 'POST') {
      const message = `This route takes POST with a RunAgentInput, not ${request.method}.`;
      return Response.json({ error: { message } }, { status: 405, headers: { allow: 'POST' } });
    }
    try {
      return await answer(request);
    } catch (error) {
      if (error instanceof Response) return error;
      if (error instanceof RequestProblem)
        return Response.json({ error: { message: error.message } }, { status: error.status });
      throw error;
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
