import { createAGUIHandler } from '@intertie/ag-ui';
import { createChatHandler } from '@intertie/ai-sdk';
import { blobPath } from '../host/blob-urls.ts';
import { defined } from '@intertie/core/internal';
import type { Host, HostedAgent } from '../host/host.ts';
import { withErrorBody } from '../http/with-error-body.ts';
import { findAgent, type App, type RouteContext } from './context.ts';

/** Adds the chat and AG-UI endpoints of every agent, for unmodified AI SDK and AG-UI clients. */
export function addAgentEndpoints(app: App, host: Host): void {
  const errorText = defined({ errorText: host.errorText });
  const chat = async (c: RouteContext): Promise<Response> => {
    const { id } = c.get('principal');
    const options = { limits: host.limits, ...errorText, blobUrl: blobPath, by: () => id };
    const handle = createChatHandler(scoped(findAgent(host, c), c), options);
    return withErrorBody(await handle(c.req.raw));
  };
  for (const base of ['/api/agents/:agent/chat', '/api/chat']) {
    app.post(base, chat);
    app.get(`${base}/:thread/stream`, chat);
    app.post(`${base}/:thread/stop`, chat);
  }

  const agUi = async (c: RouteContext): Promise<Response> => {
    const hosted = findAgent(host, c);
    const { interrupts } = hosted.definition;
    const options = { limits: host.limits, ...errorText, fileUrl: blobPath, ...defined({ interrupts }) };
    const handle = createAGUIHandler(scoped(hosted, c), { ...options, by: c.get('principal').id });
    return withErrorBody(await handle(c.req.raw));
  };
  app.post('/api/agents/:agent/ag-ui', agUi);
  app.get('/api/agents/:agent/ag-ui', agUi);
  app.delete('/api/agents/:agent/ag-ui', agUi);
}

function scoped({ agent }: HostedAgent, c: RouteContext): HostedAgent['agent'] {
  return agent.forScope(c.get('principal').id);
}
