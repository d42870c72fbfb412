import type { IntertieConfig } from '../config/config.ts';
import { IntertieError } from '../errors/intertie-error.ts';

/** Headers that a page of another origin may send if its preflight names none, and may read. */
const allowHeaders = 'authorization, content-type, idempotency-key, if-none-match, last-event-id, range';
const exposeHeaders =
  'content-range, etag, retry-after, stream-closed, stream-cursor, stream-next-offset, stream-up-to-date, x-intertie-message, x-intertie-run, x-request-id';
const allowMethods = 'GET, HEAD, POST, PATCH, DELETE, OPTIONS';
const safe = new Set(['GET', 'HEAD', 'OPTIONS']);

export type OriginVerdict = {
  /** CORS headers of the response. */
  headers: { [name: string]: string };
  /** Origin of the page, if CORS does not allow it. */
  foreignOrigin?: string;
};

/**
 * Decides which origin may read the response. Throws if a page of another origin would change something. `host` is the host
 * that the client used.
 */
export function checkOrigin(request: Request, cors: IntertieConfig['cors'], host: string): OriginVerdict {
  const origin = request.headers.get('origin');
  if (origin === null) {
    if (!safe.has(request.method) && request.headers.get('sec-fetch-site') === 'cross-site')
      rejectOrigin('another site');
    return { headers: {} };
  }
  if (isSameOrigin(origin, host)) return { headers: { vary: 'origin' } };
  if (cors === '*' || cors?.includes(origin)) {
    return {
      headers: {
        vary: 'origin, access-control-request-headers',
        'access-control-allow-origin': cors === '*' ? '*' : origin,
        ...(cors !== '*' && { 'access-control-allow-credentials': 'true' }),
        'access-control-expose-headers': exposeHeaders,
      },
    };
  }
  if (!safe.has(request.method)) rejectOrigin(origin);
  // A read needs no refusal: without CORS headers the browser hides the response from the page.
  return { headers: { vary: 'origin' }, foreignOrigin: origin };
}

/**
 * Returns the headers of a preflight response. They allow nothing without the origin headers of `checkOrigin`, so all
 * requested headers are allowed: clients add their own, such as `x-run-id` of TanStack AI.
 */
export function toPreflightHeaders({ headers }: Request): { [name: string]: string } {
  return {
    'access-control-allow-methods': allowMethods,
    'access-control-allow-headers': headers.get('access-control-request-headers') ?? allowHeaders,
    'access-control-max-age': '600',
  };
}

function isSameOrigin(origin: string, host: string): boolean {
  // Compares hosts only: behind a proxy that terminates TLS the schemes differ.
  return URL.canParse(origin) && new URL(origin).host === host;
}

function rejectOrigin(origin: string): never {
  const shown = URL.canParse(origin) ? new URL(origin).origin : 'another site';
  throw new IntertieError(
    'origin-not-allowed',
    `Pages of ${shown} may not use this server. To allow them: cors: ['${shown}'] in intertie.config.ts.`,
  );
}
