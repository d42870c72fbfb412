import type { AgentSource, DurableAgent } from '@intertie/core';
import { refusal, refusalOf } from './chat-refusal.ts';
import { DurableChat, type DurableChatHandlerOptions } from './durable-chat.ts';
import { createSourceChat, type ChatHandlerOptions } from './source-chat.ts';

/**
 * A route for an unmodified `useChat()`: `export const POST = createChatHandler(source)`. Nothing is stored. The history is
 * what the client sends, an answered message goes on from there, and a run ends when its client leaves. `GET` answers 204: a
 * client that asks for a stream to resume is told that there is none.
 *
 * With an agent, the runs are kept: they go on whoever reads them, the history is the store's, and of what the client sends
 * only the new message and its answers are taken. `GET …/:thread/stream` gives a chat what it has missed, and
 * `POST …/:thread/stop` stops the run; one handler serves all three.
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
  const route =
    'start' in served
      ? durableRoute(new DurableChat(served, options as DurableChatHandlerOptions))
      : sourceRoute(createSourceChat(served, options as ChatHandlerOptions));
  return async (request) => {
    try {
      return await route(request);
    } catch (error) {
      return refusalOf(error);
    }
  };
}

type Route = (request: Request) => Promise<Response>;

function sourceRoute(send: Route): Route {
  return async (request) => {
    if (request.method === 'GET') return new Response(null, { status: 204 });
    return request.method === 'POST' ? send(request) : wrongMethod(request);
  };
}

function durableRoute(chat: DurableChat): Route {
  return async (request) => {
    if (request.method === 'GET') return chat.resume(request);
    if (request.method !== 'POST') return wrongMethod(request);
    return /\/stop\/?$/.test(new URL(request.url).pathname) ? chat.stop(request) : chat.send(request);
  };
}

function wrongMethod({ method }: Request): Response {
  const message = `This route takes POST (a chat's messages) and GET (what is to be resumed), not ${method}.`;
  return refusal(405, 'method-not-allowed', message, { allow: 'GET, POST' });
}
