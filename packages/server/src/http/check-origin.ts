import type { IntertieConfig } from '../config/config.ts';
import { IntertieError } from '../errors/intertie-error.ts';

/** Headers that a page of another origin may send, and those that it may read. */
const allowHeaders = 'authorization, content-type, idempotency-key, if-none-match, last-event-id, range';
const exposeHeaders =
  'content-range, etag, retry-after, stream-closed, stream-cursor, stream-next-offset, stream-up-to-date, x-intertie-message, x-intertie-run, x-request-id';
const allowMethods = 'GET, HEAD, POST, PATCH, DELETE, OPTIONS';
const safe = new Set(['GET', 'HEAD', 'OPTIONS']);

export type OriginVerdict = {
  /** What goes on the answer. */
  headers: { [name: string]: string };
  /** A page of another origin, for which CORS has not been opened. */
  foreign?: string;
};

/**
 * Decides which origin may read the response. Throws where a page of another origin would change something. `host` is the
 * host that the client used.
 */
export function checkOrigin(request: Request, cors: IntertieConfig['cors'], host: string): OriginVerdict {
  const origin = request.headers.get('origin');
  if (origin === null) {
    if (!safe.has(request.method) && request.headers.get('sec-fetch-site') === 'cross-site') refuse('another site');
    return { headers: {} };
  }
  if (isSameOrigin(origin, host)) return { headers: { vary: 'origin' } };
  if (cors === '*' || cors?.includes(origin)) {
    return {
      headers: {
        vary: 'origin',
        'access-control-allow-origin': cors === '*' ? '*' : origin,
        ...(cors !== '*' && { 'access-control-allow-credentials': 'true' }),
        'access-control-expose-headers': exposeHeaders,
      },
    };
  }
  if (!safe.has(request.method)) refuse(origin);
  // Who reads without being allowed gets an answer that the browser does not show.
  return { headers: { vary: 'origin' }, foreign: origin };
}

/** The answer to a preflight. It allows nothing to an origin that is not listed: `checkOrigin` gives what does. */
export const preflightHeaders: { readonly [name: string]: string } = {
  'access-control-allow-methods': allowMethods,
  'access-control-allow-headers': allowHeaders,
  'access-control-max-age': '600',
};

function isSameOrigin(origin: string, host: string): boolean {
  // By the host alone: behind a proxy that ends TLS the scheme here is another.
  return URL.canParse(origin) && new URL(origin).host === host;
}

function refuse(origin: string): never {
  const shown = URL.canParse(origin) ? new URL(origin).origin : 'another site';
  throw new IntertieError(
    'origin-not-allowed',
    `Pages of ${shown} may not use this server. To allow them: cors: ['${shown}'] in intertie.config.ts.`,
  );
}
