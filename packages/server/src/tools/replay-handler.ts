import { createAGUIHandler } from '@intertie/ag-ui';
import { createChatHandler } from '@intertie/ai-sdk';
import { CANONICAL, tapeSource, type AgentSource } from '@intertie/core';
import { nameOf } from './dialects.ts';
import type { LoadedTape } from './load-tape.ts';
import { createMailReplay } from './replay-mail.ts';
import { ToolError } from './tool-error.ts';

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
  const isMail = tapes.every(({ known }) => nameOf(known) === 'mail');
  if (as === 'mail' && !isMail) {
    const other = tapes.find(({ known }) => nameOf(known) !== 'mail');
    const message = `A tape of ${other ? nameOf(other.known) : 'another dialect'} cannot be told in MAIL, which is only read here.`;
    throw new ToolError('usage', message, 'Play it --as ag-ui or --as ui-message-stream.');
  }
  const source = inTurn(tapes, speed);
  const handlers: { [dialect in ReplayDialect]?: Handler } = {
    'ui-message-stream': createChatHandler(source),
    'ag-ui': createAGUIHandler(source),
    ...(isMail && {
      mail: createMailReplay(
        tapes.map(({ tape }) => tape),
        speed,
      ),
    }),
  };

  return async (request) => {
    if (request.method === 'OPTIONS') return withOrigin(new Response(null, { status: 204 }), request);
    const { pathname } = new URL(request.url);
    const dialect = as ?? dialectOf(pathname, isMail);
    const handler = dialect && handlers[dialect];
    onRequest?.(`${request.method} ${pathname}${dialect ? ` in ${dialect}` : ''}`);
    if (handler) return withOrigin(await handler(request), request);
    const paths = Object.entries(replayPaths).flatMap(([name, path]) =>
      name === 'mail' && !isMail ? [] : `${name}: ${path}`,
    );
    const message = `Nothing is played at ${pathname}.`;
    return withOrigin(
      Response.json(
        { error: { code: 'not-found', message, fix: `POST to one of these. ${paths.join(', ')}` } },
        { status: 404 },
      ),
      request,
    );
  };
}

function dialectOf(path: string, isMail: boolean): ReplayDialect | undefined {
  if (path.includes('ag-ui')) return 'ag-ui';
  if (path.includes('chat')) return 'ui-message-stream';
  return isMail ? 'mail' : undefined;
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

/** The first turn of a thread plays the first tape, the second the second, and so round again. */
function inTurn(tapes: readonly LoadedTape[], speed: number): AgentSource {
  const sources = tapes.map(({ tape, known: { dialect } }) =>
    tapeSource(tape, {
      speed,
      ...(dialect.name !== CANONICAL && { decoder: (run, onLoss) => dialect.decoder!(run, onLoss) }),
    }),
  );
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
