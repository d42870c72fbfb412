import {
  isDurableAgent,
  toBlobUrl,
  type DurableAgent,
  type EndpointAgent,
  type EndpointRoute,
  type Fault,
} from '@intertie/core';
import { defaultRequestLimits, type RequestLimits } from '@intertie/core/http';
import { defined } from '@intertie/core/internal';
import { openaiEndpoints } from '../endpoints.ts';
import { OpenAIRequestError } from './openai-error.ts';

export type OpenAIHandlerOptions = {
  /** Limits of the request body. */
  limits?: Partial<RequestLimits>;
  /** Text of an error for the client. Default: a generic sentence with the run id. */
  errorText?: (error: Fault) => string;
  /** User to record as the author of requests. */
  by?: (request: Request) => string | undefined;
  /** Path below which the endpoints are, for example `/api`. Default: none. */
  basePath?: string;
};

/**
 * Creates the OpenAI API for agents with durable runs: `/v1/responses`, `/v1/chat/completions` and `/v1/models`, and the same below
 * `/open-responses`. `model` of a request is the name of the agent; the first one is the default. The handler does not authenticate.
 */
export function createOpenAIHandler(
  agents: DurableAgent | readonly DurableAgent[],
  options: OpenAIHandlerOptions = {},
): (request: Request) => Promise<Response> {
  const { limits, errorText, by, basePath = '' } = options;
  const served = (isAgent(agents) ? [agents] : agents).map((agent): EndpointAgent => ({ name: agent.name, agent }));
  const [first] = served;
  if (first === undefined) throw new TypeError('createOpenAIHandler needs at least one agent.');
  const handler = openaiEndpoints.createHandler({
    limits: { ...defaultRequestLimits, ...limits },
    fileUrl: toBlobUrl,
    requiresToken: false,
    ...defined({ errorText }),
  });
  return async (request) => {
    const { pathname, origin } = new URL(request.url);
    const path = pathname.startsWith(`${basePath}/`) ? pathname.slice(basePath.length) : undefined;
    const found = path === undefined ? undefined : findRoute(request.method, path);
    if (found === undefined) return notFound(request, pathname).toResponse();
    return (await handler)({ request, ...found, agent: first, agents: served, origin, by: by?.(request) ?? 'openai' });
  };
}

function isAgent(agents: DurableAgent | readonly DurableAgent[]): agents is DurableAgent {
  return !Array.isArray(agents) && isDurableAgent(agents as DurableAgent);
}

function findRoute(
  method: string,
  path: string,
): { route: EndpointRoute; params: { [name: string]: string } } | undefined {
  for (const route of openaiEndpoints.routes) {
    const pattern = route.path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)');
    const match = route.method === method ? new RegExp(`^${pattern}$`).exec(path) : null;
    if (match) return { route, params: mapValues(match.groups ?? {}, decodeURIComponent) };
  }
  return undefined;
}

function mapValues(values: { [name: string]: string }, map: (value: string) => string): { [name: string]: string } {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
}

function notFound({ method }: Request, path: string): OpenAIRequestError {
  return new OpenAIRequestError(`Unknown request URL: ${method} ${path}.`, { status: 404, code: 'unknown_url' });
}
