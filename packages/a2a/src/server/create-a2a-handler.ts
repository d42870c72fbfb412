import { A2A_CONTENT_TYPE, A2A_VERSION_HEADER, AgentCard, Extensions, HTTP_EXTENSION_HEADER } from '@a2a-js/sdk';
import { ContentTypeNotSupportedError, RequestMalformedError } from '@a2a-js/sdk/errors';
import { ServerCallContext, validateVersion } from '@a2a-js/sdk/server';
import type { DurableAgent, JsonObject } from '@intertie/core';
import { readJsonBody, RequestBodyError } from '@intertie/core/http';
import type { A2ACall } from './a2a-call.ts';
import type { A2AHandlerOptions } from './a2a-handler-options.ts';
import { cardPath, createAgentCard } from './agent-card.ts';
import { DurableRequestHandler } from './durable-request-handler.ts';
import { serveJsonRpc, toJsonRpcErrorResponse } from './json-rpc.ts';
import { matchRestRoute, serveRest, toRestErrorResponse } from './rest.ts';
import { toA2AError } from './to-a2a-error.ts';

/**
 * Creates an endpoint for A2A 1.0 clients: JSON-RPC at its own path, HTTP+JSON below it, and the agent card at
 * `/.well-known/agent-card.json` below it. Tasks are stored, continue when their clients disconnect, and can be subscribed to from
 * any process.
 */
export function createA2AHandler(
  agent: DurableAgent,
  options: A2AHandlerOptions = {},
): (request: Request) => Promise<Response> {
  return async (request) => {
    const url = new URL(request.url);
    const { basePath, path } = splitPath(url.pathname, options.basePath);
    const endpoint = `${options.origin ?? url.origin}${basePath}`;
    const card = await createAgentCard(agent, endpoint, options);
    if (path === cardPath) return toCardResponse(request, card);
    const isRest = path !== '';
    try {
      return await serve(agent, request, { ...options, card, path });
    } catch (error) {
      const known = toA2AError(error, options.onError);
      return isRest ? toRestErrorResponse(known) : toJsonRpcErrorResponse(known, null);
    }
  };
}

async function serve(
  agent: DurableAgent,
  request: Request,
  { card, path, ...options }: A2AHandlerOptions & { card: JsonObject; path: string },
): Promise<Response> {
  const isRest = path !== '';
  const route = isRest ? matchRestRoute(request.method, path) : undefined;
  if (isRest ? !route : request.method !== 'POST') return new Response(null, { status: isRest ? 404 : 405 });
  checkContentType(request, isRest);
  const version = request.headers.get(A2A_VERSION_HEADER) ?? new URL(request.url).searchParams.get(A2A_VERSION_HEADER);
  const context = new ServerCallContext({
    requestedExtensions: Extensions.parseServiceParameter(request.headers.get(HTTP_EXTENSION_HEADER) ?? undefined),
    ...(version && { requestedVersion: version }),
  });
  const body = request.method === 'POST' ? await readBody(request, options, isRest) : undefined;
  if (body instanceof Response) return body;
  validateVersion(context.requestedVersion, AgentCard.fromJSON(card), isRest ? 'HTTP+JSON' : 'JSONRPC');
  const abort = new AbortController();
  const signal = AbortSignal.any([request.signal, abort.signal]);
  const call: A2ACall = {
    request,
    body,
    context,
    createHandler: (params) => new DurableRequestHandler(agent, { ...options, card, params, signal }),
    keepAliveMs: options.keepAliveMs ?? 15_000,
    cancel: () => abort.abort(),
  };
  return route ? serveRest(route, call) : serveJsonRpc(call);
}

const restPaths =
  /(?:\/\.well-known\/agent-card\.json|\/message:(?:send|stream)|\/tasks(?:\/[^/]+(?:\/pushNotificationConfigs(?:\/[^/]+)?)?)?|\/extendedAgentCard)$/;

/** Splits the path of a request into that of the endpoint and the rest. */
function splitPath(pathname: string, basePath: string | undefined): { basePath: string; path: string } {
  const length = basePath === undefined ? (restPaths.exec(pathname)?.index ?? pathname.length) : basePath.length;
  return { basePath: pathname.slice(0, length), path: pathname.slice(length).replace(/\/$/, '') };
}

function checkContentType(request: Request, isRest: boolean): void {
  const type = request.headers.get('content-type')?.split(';', 1)[0]!.trim().toLowerCase();
  if (request.method !== 'POST' || type === undefined || type === 'application/json') return;
  if (isRest && type === A2A_CONTENT_TYPE) return;
  throw new ContentTypeNotSupportedError(`The content type is ${type}. Send application/json.`);
}

/** Reads the body. Returns the error response of JSON-RPC for text that is not JSON, which has a code of its own. */
async function readBody(request: Request, { limits }: A2AHandlerOptions, isRest: boolean): Promise<unknown> {
  try {
    return await readJsonBody(request, { limits });
  } catch (error) {
    if (!(error instanceof RequestBodyError)) throw error;
    if (!isRest && error.code === 'bad-json')
      return toJsonRpcErrorResponse({ code: -32_700, message: 'Invalid JSON payload' }, null);
    throw new RequestMalformedError(`${error.message} ${error.fix}`);
  }
}

async function toCardResponse(request: Request, card: JsonObject): Promise<Response> {
  const text = JSON.stringify(card);
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  const etag = `"${Array.from(digest.slice(0, 8), (byte) => byte.toString(16).padStart(2, '0')).join('')}"`;
  const headers = { etag, 'cache-control': 'public, max-age=60', 'content-type': 'application/json' };
  if (request.headers.get('if-none-match') === etag) return new Response(null, { status: 304, headers });
  return new Response(text, { headers });
}
