import { tapeSource, type AgentSource, type Protocol } from '@intertie/core';
import { CANONICAL } from '@intertie/core/internal';
import type { LoadedTape } from '../input/load-tape.ts';

export interface ReplayHandlerOptions {
  tapes: readonly LoadedTape[];
  /** Protocols to serve, which have a `replay`. */
  protocols: readonly Protocol[];
  /** Protocol of every path. Default: depends on the path. */
  as?: Protocol | undefined;
  speed: number;
  onRequest?: (line: string) => void;
}

type Handler = (request: Request) => Promise<Response>;

/**
 * Creates a handler that answers requests with tapes, for developing clients without an API key. Pages of this machine may
 * read the responses from any port.
 */
export async function createReplayHandler(options: ReplayHandlerOptions): Promise<Handler> {
  const { protocols, as, speed, onRequest } = options;
  const tapes = options.tapes.map((loaded) => ({
    protocol: loaded.known.name,
    tape: loaded.tape,
    source: createTapeSource(loaded, speed),
  }));
  const source = cycleSources(tapes.map((tape) => tape.source));
  const served = as ? [as] : protocols;
  const handlers = new Map<Protocol, Handler>();
  for (const protocol of served) {
    handlers.set(protocol, await protocol.replay!.createHandler({ source, tapes, speed }));
  }
  // Clients of a protocol without a path of its own use several paths, so it serves all others.
  const others = served.find(({ client }) => !client?.matchesPath) ?? served[0]!;

  return async (request) => {
    if (request.method === 'OPTIONS') return withOrigin(new Response(null, { status: 204 }), request);
    const { pathname } = new URL(request.url);
    const protocol = as ?? served.find(({ client }) => client?.matchesPath?.(pathname)) ?? others;
    onRequest?.(`${request.method} ${pathname} in ${protocol.name}`);
    return withOrigin(await handlers.get(protocol)!(request), request);
  };
}

/** Allows pages served by this machine to read the response. Other pages in the same browser may not. */
function withOrigin(response: Response, request: Request): Response {
  const origin = request.headers.get('origin');
  if (origin === null || !isLoopback(origin)) return response;
  const headers = new Headers(response.headers);
  headers.set('access-control-allow-origin', origin);
  headers.set('access-control-allow-headers', request.headers.get('access-control-request-headers') ?? '*');
  headers.set('access-control-expose-headers', '*');
  headers.append('vary', 'origin');
  return new Response(response.body, { status: response.status, headers });
}

function isLoopback(origin: string): boolean {
  return /^https?:\/\/(?:localhost|127(?:\.\d+){3}|\[::1\]|[\w-]+\.localhost)(?::\d+)?$/.test(origin);
}

function createTapeSource({ tape, known }: LoadedTape, speed: number): AgentSource {
  return tapeSource(tape, {
    speed,
    ...(known.name !== CANONICAL && { decoder: (run, onLoss) => known.decoder!(run, onLoss) }),
  });
}

/** Plays the first tape in the first turn of a thread, the second in the second turn, and so on, starting over at the end. */
function cycleSources(sources: readonly AgentSource[]): AgentSource {
  const turns = new Map<string, number>();
  return {
    name: 'tape',
    pauses: 'replay',
    run(run, control) {
      const turn = turns.get(run.threadId) ?? 0;
      turns.set(run.threadId, turn + 1);
      return sources[turn % sources.length]!.run(run, control);
    },
  };
}
