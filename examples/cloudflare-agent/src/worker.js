import { AgentsToAGUIAdapter, fromAGUIMessages } from '@intertie/ag-ui';
import { Agent, routeAgentRequest } from 'agents';
import { streamText } from 'ai';
import { model } from './model.js';

/**
 * Answers each request on the socket (a RunAgentInput) with the events of its run. The SDK sends its own frames on the same
 * socket; clients ignore frames without an AG-UI type.
 */
export class Chat extends Agent {
  async onMessage(connection, message) {
    const { threadId, runId, messages, protocolVersion } = JSON.parse(message);
    const adapter = new AgentsToAGUIAdapter({ protocolVersion });
    const stream = streamText({ model, messages: fromAGUIMessages(messages) });
    for await (const event of adapter.adaptStreamToAGUI(stream, threadId, runId, messages)) {
      connection.send(JSON.stringify(event));
    }
  }
}

export default {
  async fetch(request, env) {
    return (await routeAgentRequest(request, env)) ?? new Response('Not found', { status: 404 });
  },
};
