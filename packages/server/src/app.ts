import type { ProtocolEndpoints } from '@intertie/core';
import { readRunHeaders } from '@intertie/core/http';
import { Hono } from 'hono';
import { routePath } from 'hono/route';
import type { Host } from './host/host.ts';
import { authenticate, equalsSecret } from './http/authenticate.ts';
import { checkHost } from './http/check-host.ts';
import { checkOrigin, toPreflightHeaders } from './http/check-origin.ts';
import { createClientReader, type Client } from './net/client-address.ts';
import { RateLimit } from './http/rate-limit.ts';
import { remoteAddress, type ServerEnv } from './http/server-env.ts';
import { formatError } from './errors/format-error.ts';
import { toIntertieError } from './http/to-intertie-error.ts';
import { IntertieError } from './errors/intertie-error.ts';
import { addAgentRoutes } from './routes/agents.ts';
import { addBlobRoutes } from './routes/blobs.ts';
import { addConsole } from './routes/console.ts';
import type { App, RouteContext } from './routes/context.ts';
import { addDevRoutes } from './routes/dev.ts';
import { addAgentEndpoints } from './routes/agent-endpoints.ts';
import { addOpenAPI } from './routes/openapi.ts';
import { addOperationRoutes } from './routes/operations.ts';
import { addQuestionRoutes } from './routes/questions.ts';
import { createRouteFinder, isStreaming, listRoutes, type Route } from './routes/route-table.ts';
import { addRunRoutes } from './routes/runs.ts';
import { addStreamRoutes } from './routes/streams.ts';
import { addSearchRoutes } from './routes/search.ts';
import { addThreadRoutes } from './routes/threads.ts';

/** Creates the Hono app with every route of the server. `guard` runs before each of them. */
export function createApp(host: Host): App {
  const app: App = new Hono<ServerEnv>();
  const routes = listRoutes(host.protocols);
  const findRoutes = createRouteFinder(routes);
  app.use(guard(host, findRoutes));
  addAgentRoutes(app, host);
  addAgentEndpoints(app, host);
  addThreadRoutes(app, host);
  addSearchRoutes(app, host);
  addRunRoutes(app, host);
  addQuestionRoutes(app, host);
  addBlobRoutes(app, host);
  addStreamRoutes(app, host);
  addDevRoutes(app, host);
  addOperationRoutes(app, host);
  addOpenAPI(app, routes);
  const reject = (c: RouteContext): never => {
    const allowed = [...new Set(findRoutes(c.req.path).map(({ method }) => method))];
    if (allowed.length === 0) throw new IntertieError('not-found');
    throw new IntertieError('method-not-allowed', undefined, { headers: { allow: allowed.join(', ') } });
  };
  for (const { endpoints } of host.protocols)
    for (const path of endpoints?.basePaths ?? []) app.all(`${path}/*`, reject);
  addConsole(app, host);
  app.notFound(reject);
  app.onError((error, c) => toErrorResponse(host, error, c, findRoutes));
  return app;
}

/** Converts an error to a response in the format of the protocol that the path belongs to. */
function toErrorResponse(host: Host, error: unknown, c: RouteContext, findRoutes: FindRoutes): Response {
  const reported = reportError(host, error, c);
  const { status, code, message, headers } = reported;
  const createErrorBody = findErrorBody(host, c.req.path, findRoutes);
  if (!createErrorBody) return reported.toResponse();
  return Response.json(createErrorBody({ status, code, message }), { status, ...(headers && { headers }) });
}

/** Finds the error format of the route, or of the protocol whose base path has no such route. */
function findErrorBody(
  { protocols }: Host,
  path: string,
  findRoutes: FindRoutes,
): ProtocolEndpoints['createErrorBody'] {
  const [route] = findRoutes(path);
  if (route) return route.createErrorBody;
  const owner = protocols.find(({ endpoints }) =>
    endpoints?.basePaths?.some((base) => `${path}/`.startsWith(`${base}/`)),
  );
  return owner?.endpoints?.createErrorBody;
}

type FindRoutes = (path: string) => Route[];

/** Maps an error to the catalogue, and logs it if the server is to blame. Unknown errors expose only the request id. */
function reportError({ logger }: Host, error: unknown, c: RouteContext): IntertieError {
  const known = toIntertieError(error);
  if (known) {
    const { code, cause } = known;
    if (known.status >= 500)
      logger.log('error', 'refused', { requestId: c.get('requestId'), code, cause: formatError(cause) });
    return known;
  }
  const requestId = c.get('requestId');
  logger.log('error', 'failed', { requestId, path: c.req.path, error: formatError(error) });
  return new IntertieError('internal', undefined, { data: { requestId } });
}

/** Authenticates and limits requests, and adds the headers that every response has. */
function guard(host: Host, findRoutes: FindRoutes): (c: RouteContext, next: () => Promise<void>) => Promise<void> {
  const { config, limits, isLocalOnly, logger, metrics, sessions, streams } = host;
  const { auth, token } = config;
  const hostRules = { hosts: config.hosts ?? [], isGuarded: !isLocalOnly };
  const rate = new RateLimit(limits.requestsPerSecond);
  const failures = new RateLimit(5);
  const readClient = createClientReader(config.trustProxy);
  const warnedOrigins = new Set<string>();

  /** Returns the key that the client's limits are counted under. Throws if the request is refused. */
  const admit = async (c: RouteContext, { address = 'unknown', host: hostHeader }: Client): Promise<string> => {
    const { raw, path } = c.req;
    checkHost(raw, { ...hostRules, forwardedHost: hostHeader }, remoteAddress(c.env));
    const route = findRoutes(path).find(({ method }) => method === raw.method);
    if (raw.method === 'OPTIONS' || (raw.method === 'GET' && isPublic(path, route))) {
      c.set('principal', { id: 'nobody' });
      return address;
    }
    // Valid credentials always pass, even if the same address has sent too many wrong ones.
    try {
      c.set('principal', await authenticate(raw, { auth, token, sessions }));
    } catch (error) {
      const isWrong = error instanceof IntertieError && error.code === 'unauthorized';
      throw (isWrong ? limitFailures(failures, address) : undefined) ?? error;
    }
    const client = isLocalOnly ? address : c.get('principal').id;
    const waitSeconds = rate.take(client);
    if (waitSeconds > 0) throw new IntertieError('too-many-requests', undefined, retryAfter(waitSeconds));
    if (Number(raw.headers.get('content-length') ?? 0) > limits.bodyBytes) throw new IntertieError('too-large');
    if (route && isStreaming(route)) streams.check(client);
    return client;
  };

  return async (c, next) => {
    const startedAt = performance.now();
    const requestId = crypto.randomUUID();
    c.set('requestId', requestId);
    let response: Response;
    let corsHeaders: { [name: string]: string } = {};
    const caller = readClient(c.req.raw, remoteAddress(c.env));
    c.set('origin', `${caller.isSecure ? 'https' : 'http'}://${caller.host}`);
    try {
      const { headers, foreignOrigin: origin } = checkOrigin(c.req.raw, config.cors, caller.host);
      corsHeaders = headers;
      if (origin !== undefined && !warnedOrigins.has(origin) && warnedOrigins.size < 100) {
        warnedOrigins.add(origin);
        const fix = `The browser will not show the response. To allow it: cors: ['${origin}'] in intertie.config.ts`;
        logger.log('warn', 'foreign-origin', { origin, fix });
      }
      const client = await admit(c, caller);
      if (c.req.method === 'OPTIONS')
        response = new Response(null, { status: 204, headers: toPreflightHeaders(c.req.raw) });
      else {
        const release = isLongPoll(c) ? streams.hold(client) : undefined;
        try {
          const isPage = c.req.method === 'GET' && isPublic(c.req.path, findRoutes(c.req.path)[0]);
          response = (isPage ? signIn(host, c, failures, caller) : undefined) ?? (await run(c, next));
        } finally {
          release?.();
        }
        // Hono drops the body of a HEAD response without cancelling it, which would leak the reader behind it.
        if (isStream(response) && c.req.method === 'HEAD') {
          await response.body?.cancel();
          response = new Response(null, response);
        } else if (isStream(response)) {
          // Streams of local servers pass through `track` so that developers can disturb them. Others are only closed.
          if (isLocalOnly || !c.env?.outgoing) {
            response = streams.track(response, { client, thread: await findThreadId(host, c, response) });
          } else streams.trackConnection(c.env.outgoing, client);
        }
      }
    } catch (error) {
      response = toErrorResponse(host, error, c, findRoutes);
    }
    const { method, path } = c.req;
    const seconds = (performance.now() - startedAt) / 1000;
    const { status } = response;
    metrics.observe({ method, route: routePath(c, -1), status, seconds });
    const { address } = caller;
    logger.log('info', 'request', { requestId, method, path, address, status, ms: Math.round(seconds * 1000) });
    // Hono merges the headers of two responses; `response` already has all of them.
    c.res = undefined;
    c.res = withHeaders(response, {
      'x-request-id': requestId,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      ...corsHeaders,
    });
  };
}

/** Whether a GET request needs no credentials: public routes, and the files of the console. */
function isPublic(path: string, route: Route | undefined): boolean {
  return route ? route.isPublic === true : !/^\/(api|streams)\//.test(path);
}

async function run(c: RouteContext, next: () => Promise<void>): Promise<Response> {
  await next();
  return c.res;
}

function withHeaders(response: Response, headers: { [name: string]: string }): Response {
  const all = new Headers(response.headers);
  for (const [name, value] of Object.entries(headers)) if (!all.has(name)) all.set(name, value);
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers: all });
}

/** Counts wrong credentials per address. Returns the error to throw if there were too many. */
function limitFailures(failures: RateLimit, address: string): IntertieError | undefined {
  const waitSeconds = failures.take(address);
  return waitSeconds > 0 ? new IntertieError('too-many-requests', undefined, retryAfter(waitSeconds)) : undefined;
}

function retryAfter(seconds: number): { headers: { [name: string]: string } } {
  return { headers: { 'retry-after': String(seconds) } };
}

function isLongPoll({ req }: RouteContext): boolean {
  return req.path.startsWith('/streams/') && req.query('live') === 'long-poll';
}

function isStream(response: Response): boolean {
  return response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
}

/** Finds the thread of a streaming response, so that `POST /api/dev/wire` can disturb it. Only on local servers. */
async function findThreadId(host: Host, c: RouteContext, response: Response): Promise<string | undefined> {
  if (!host.isLocalOnly) return undefined;
  const inPath = /^\/api\/(?:threads\/([^/]+)\/events|(?:agents\/[^/]+\/)?chat\/([^/]+)\/stream)$/.exec(c.req.path);
  const named = inPath?.[1] ?? inPath?.[2];
  if (named !== undefined) return decodeURIComponent(named);
  const ofRun = /^\/(?:api|streams)\/runs\/([^/]+)/.exec(c.req.path)?.[1];
  const runId = readRunHeaders(response).runId ?? (ofRun === undefined ? undefined : decodeURIComponent(ofRun));
  if (runId === undefined) return c.req.query('threadId');
  return (await host.store.registry.findRun(host.store.scope, { runId }))?.threadId;
}

/** Answers `/?token=…` with a session cookie and a redirect to the same path without the token. */
function signIn(
  { config, sessions }: Host,
  c: RouteContext,
  failures: RateLimit,
  { address = 'unknown', isSecure }: Client,
): Response | undefined {
  const given = c.req.query('token');
  const { token } = config;
  if (given === undefined || token === undefined || !sessions) return undefined;
  if (!equalsSecret(given, token)) throw limitFailures(failures, address) ?? new IntertieError('unauthorized');
  const url = new URL(c.req.url);
  url.searchParams.delete('token');
  // `//evil.example` would redirect to another host, so the location starts with exactly one slash.
  const location = url.pathname.replace(/^\/+/, '/') + url.search;
  return new Response(null, { status: 303, headers: { location, 'set-cookie': sessions.setCookie(isSecure) } });
}
