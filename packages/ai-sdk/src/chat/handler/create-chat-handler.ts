import { isDurableAgent, type AgentSource, type DurableAgent } from '@intertie/core';
import { readAcceptedVersion } from '../accepted-version.ts';
import { errorResponse, toErrorResponse } from './error-response.ts';
import { DurableChat, type DurableChatHandlerOptions } from './durable-chat.ts';
import { createSourceChat, type ChatHandlerOptions } from './source-chat.ts';

/**
 * Creates a route for an unmodified `useChat()`: `export const POST = createChatHandler(source)`.
 *
 * With a source, nothing is stored: the client sends the history, a run ends when its client disconnects, and `GET` responds
 * 204 because no stream can be resumed.
 *
 * With an agent, runs are durable: they continue without a reader, the store has the history, and only the new message and
 * its answers are taken from the client. The same handler serves `GET …/:thread/stream` (missed part of a message) and
 * `POST …/:thread/stop`.
 */
export function createChatHandler(
  agent: DurableAgent,
  options?: DurableChatHandlerOptions,
): (request: Request) => Promise<Response>;
export function createChatHandler(
  source: AgentSource,
  options?: ChatHandlerOptions,
): (request: Request) => Promise<Response>;
export function createChatHandler(
  served: AgentSource | DurableAgent,
  options: ChatHandlerOptions | DurableChatHandlerOptions = {},
): (request: Request) => Promise<Response> {
  const route = isDurableAgent(served)
    ? durableRoute((request) => new DurableChat(served, withVersion(options as DurableChatHandlerOptions, request)))
    : sourceRoute(createSourceChat(served, options as ChatHandlerOptions));
  return async (request) => {
    try {
      return await route(request);
    } catch (error) {
      return toErrorResponse(error);
    }
  };
}

type Route = (request: Request) => Promise<Response>;

function sourceRoute(send: Route): Route {
  return async (request) => {
    if (request.method === 'GET') return new Response(null, { status: 204 });
    return request.method === 'POST' ? send(request) : methodNotAllowed(request);
  };
}

function durableRoute(getChat: (request: Request) => DurableChat): Route {
  return async (request) => {
    const chat = getChat(request);
    if (request.method === 'GET') return chat.resume(request);
    if (request.method !== 'POST') return methodNotAllowed(request);
    return /\/stop\/?$/.test(new URL(request.url).pathname) ? chat.stop(request) : chat.send(request);
  };
}

/** Adds the version that the client accepts, unless the application has set one. */
function withVersion(options: DurableChatHandlerOptions, request: Request): DurableChatHandlerOptions {
  const version = options.version ?? readAcceptedVersion(request);
  return version === undefined ? options : { ...options, version };
}

function methodNotAllowed({ method }: Request): Response {
  const message = `This route supports POST (send messages) and GET (resume a stream), not ${method}.`;
  return errorResponse(405, 'method-not-allowed', message, { allow: 'GET, POST' });
}
