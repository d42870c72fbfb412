import { defined } from '@intertie/core/internal';
import type { EndpointAgent, EndpointHandler, EndpointRoute, ProtocolEndpoints } from '@intertie/core';
import { blobPath } from '../host/blob-urls.ts';
import type { Host, HostedAgent } from '../host/host.ts';
import { withErrorBody } from '../http/with-error-body.ts';
import { findAgent, type App, type RouteContext } from './context.ts';

/** Adds the endpoints that the protocols have for their clients. */
export function addAgentEndpoints(app: App, host: Host): void {
  for (const { endpoints } of host.protocols) if (endpoints) addEndpoints(app, host, endpoints);
}

function addEndpoints(app: App, host: Host, endpoints: ProtocolEndpoints): void {
  const { limits, errorText } = host;
  let handler: Promise<EndpointHandler> | undefined;
  const handle = async (c: RouteContext, route: EndpointRoute): Promise<Response> => {
    const { id: by } = c.get('principal');
    const scoped = (hosted: HostedAgent): EndpointAgent => toEndpointAgent(hosted, by);
    handler ??= endpoints.createHandler({ limits, fileUrl: blobPath, ...defined({ errorText }) });
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
    });
    return endpoints.hasOwnErrors ? response : withErrorBody(response);
  };
  for (const route of endpoints.routes) {
    app.on(route.method, route.path.replaceAll(/\{(\w+)\}/g, ':$1'), (c) => handle(c, route));
  }
}

function toEndpointAgent({ name, definition, agent }: HostedAgent, scope: string): EndpointAgent {
  const { description, interrupts } = definition;
  return { name, agent: agent.forScope(scope), ...defined({ description, interrupts }) };
}
