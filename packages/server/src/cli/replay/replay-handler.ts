import { createAGUIHandler } from '@intertie/ag-ui';
import { createChatHandler } from '@intertie/ai-sdk';
import { tapeSource, type AgentSource } from '@intertie/core';
import { CANONICAL } from '@intertie/core/internal';
import { getDialectName } from '../formats/dialects.ts';
import type { LoadedTape } from '../input/load-tape.ts';
import { createMailReplay, recordedTurn, toldTurn } from './replay-mail.ts';

export const replayDialects = ['ui-message-stream', 'ag-ui', 'mail'] as const;
export type ReplayDialect = (typeof replayDialects)[number];

export interface ReplayHandlerOptions {
  tapes: readonly LoadedTape[];
  /** What every path answers in. Undefined: the path says it. */
  as?: ReplayDialect | undefined;
  speed: number;
  onRequest?: (line: string) => void;
}

type Handler = (request: Request) => Promise<Response>;

/** Which dialect a path is of, where it is not said. */
export const replayPaths: { readonly [dialect in ReplayDialect]: string } = {
  'ui-message-stream': '/api/chat',
  'ag-ui': '/api/ag-ui',
  mail: '/ui/message',
};

/**
 * An endpoint that answers every request with a tape, the first request with the first and so on, as an agent would: front
 * ends are developed against it without a key. Pages of this machine may ask it from their own port.
 */
export function createReplayHandler({ tapes, as, speed, onRequest }: ReplayHandlerOptions): Handler {
  const source = inTurn(tapes.map((loaded) => sourceOf(loaded, speed)));
  const turns = tapes.map((loaded) =>
    getDialectName(loaded.known) === 'mail' ? recordedTurn(loaded.tape, speed) : toldTurn(sourceOf(loaded, speed)),
  );
  let turn = 0;
  const handlers: { [dialect in ReplayDialect]: Handler } = {
    'ui-message-stream': createChatHandler(source),
    'ag-ui': createAGUIHandler(source),
    mail: createMailReplay((task, signal) => turns[turn++ % turns.length]!(task, signal)),
  };

  return async (request) => {
    if (request.method === 'OPTIONS') return withOrigin(new Response(null, { status: 204 }), request);
    const { pathname } = new URL(request.url);
    const dialect = as ?? dialectOf(pathname);
    onRequest?.(`${request.method} ${pathname} in ${dialect}`);
    return withOrigin(await handlers[dialect](request), request);
  };
}

/** A MAIL client asks for several paths, and all others for the one that they were given. */
function dialectOf(path: string): ReplayDialect {
  if (path.includes('ag-ui')) return 'ag-ui';
  return path.includes('chat') ? 'ui-message-stream' : 'mail';
}

/** A page that is served by this machine may read the answer. Any other page in the same browser may not. */
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

function sourceOf({ tape, known: { dialect } }: LoadedTape, speed: number): AgentSource {
  return tapeSource(tape, {
    speed,
    ...(dialect.name !== CANONICAL && { decoder: (run, onLoss) => dialect.decoder!(run, onLoss) }),
  });
}

/** The first turn of a thread plays the first tape, the second the second, and so round again. */
function inTurn(sources: readonly AgentSource[]): AgentSource {
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
