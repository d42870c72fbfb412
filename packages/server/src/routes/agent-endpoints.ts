import { defined } from '@intertie/core/internal';
import type { EndpointAgent, EndpointHandler, EndpointRoute, ProtocolEndpoints } from '@intertie/core';
import { formatError } from '../errors/format-error.ts';
import { blobPath } from '../host/blob-urls.ts';
import type { Host, HostedAgent } from '../host/host.ts';
import { withErrorBody } from '../http/with-error-body.ts';
import { findAgent, type App, type RouteContext } from './context.ts';

/** Adds the endpoints that the protocols have for their clients. */
export function addAgentEndpoints(app: App, host: Host): void {
  for (const { endpoints } of host.protocols) if (endpoints) addEndpoints(app, host, endpoints);
}

function addEndpoints(app: App, host: Host, endpoints: ProtocolEndpoints): void {
  const { limits, errorText, config, logger } = host;
  const requiresToken = config.token !== undefined || config.auth !== undefined;
  const onError = (error: unknown): void => logger.log('error', 'failed', { error: formatError(error) });
  let handler: Promise<EndpointHandler> | undefined;
  const handle = async (c: RouteContext, route: EndpointRoute): Promise<Response> => {
    const { id: by } = c.get('principal');
    const scoped = (hosted: HostedAgent): EndpointAgent => toEndpointAgent(hosted, by);
    handler ??= endpoints.createHandler({
      limits,
      fileUrl: blobPath,
      requiresToken,
      onError,
      ...defined({ errorText }),
    });
    const response = await (
      await handler
    )({
      request: c.req.raw,
      route,
      params: c.req.param(),
      agent: scoped(findAgent(host, c)),
      agents: [host.defaultAgent, ...host.agents.values()]
        .filter((agent, index, all) => all.indexOf(agent) === index)
        .map(scoped),
      by,
      origin: c.get('origin'),
    });
    return endpoints.hasOwnErrors ? response : withErrorBody(response);
  };
  for (const route of endpoints.routes) {
    app.on(route.method, toHonoPath(route.path), (c) => handle(c, route));
  }
}

function toEndpointAgent({ name, definition, agent }: HostedAgent, scope: string): EndpointAgent {
  const { description, interrupts } = definition;
  return { name, agent: agent.forScope(scope), ...defined({ description, interrupts }) };
}

/** `{task}` becomes `:task`, and `{task}:cancel` becomes a parameter with that suffix. */
function toHonoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}([^/]*)/g, (_, name: string, suffix: string) =>
    suffix === '' ? `:${name}` : `:${name}{[^/]+${suffix}}`,
  );
}
