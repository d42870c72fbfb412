import { createAGUIHandler } from '@intertie/ag-ui';
import { createChatHandler } from '@intertie/ai-sdk';
import { tapeSource, type AgentSource } from '@intertie/core';
import { CANONICAL } from '@intertie/core/internal';
import { getDialectName } from '../formats/dialects.ts';
import type { LoadedTape } from '../input/load-tape.ts';
import { createMailReplay, recordedReply, encodedReply } from './replay-mail.ts';

export const replayDialects = ['ui-message-stream', 'ag-ui', 'mail'] as const;
export type ReplayDialect = (typeof replayDialects)[number];

export interface ReplayHandlerOptions {
  tapes: readonly LoadedTape[];
  /** Dialect of every path. Default: depends on the path. */
  as?: ReplayDialect | undefined;
  speed: number;
  onRequest?: (line: string) => void;
}

type Handler = (request: Request) => Promise<Response>;

/** Paths of the dialects, if `as` is not set. */
export const replayPaths: { readonly [dialect in ReplayDialect]: string } = {
  'ui-message-stream': '/api/chat',
  'ag-ui': '/api/ag-ui',
  mail: '/ui/message',
};

/**
 * Creates a handler that answers requests with tapes, for developing clients without an API key. Pages of this machine may
 * read the responses from any port.
 */
export function createReplayHandler({ tapes, as, speed, onRequest }: ReplayHandlerOptions): Handler {
  const source = cycleSources(tapes.map((loaded) => createTapeSource(loaded, speed)));
  const replies = tapes.map((loaded) =>
    getDialectName(loaded.known) === 'mail'
      ? recordedReply(loaded.tape, speed)
      : encodedReply(createTapeSource(loaded, speed)),
  );
  let nextReply = 0;
  const handlers: { [dialect in ReplayDialect]: Handler } = {
    'ui-message-stream': createChatHandler(source),
    'ag-ui': createAGUIHandler(source),
    mail: createMailReplay((task, signal) => replies[nextReply++ % replies.length]!(task, signal)),
  };

  return async (request) => {
    if (request.method === 'OPTIONS') return withOrigin(new Response(null, { status: 204 }), request);
    const { pathname } = new URL(request.url);
    const dialect = as ?? detectDialect(pathname);
    onRequest?.(`${request.method} ${pathname} in ${dialect}`);
    return withOrigin(await handlers[dialect](request), request);
  };
}

/** A MAIL client uses several paths, so every path without another dialect is MAIL. */
function detectDialect(path: string): ReplayDialect {
  if (path.includes('ag-ui')) return 'ag-ui';
  return path.includes('chat') ? 'ui-message-stream' : 'mail';
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

function createTapeSource({ tape, known: { dialect } }: LoadedTape, speed: number): AgentSource {
  return tapeSource(tape, {
    speed,
    ...(dialect.name !== CANONICAL && { decoder: (run, onLoss) => dialect.decoder!(run, onLoss) }),
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
