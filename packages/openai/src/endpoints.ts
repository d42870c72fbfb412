import { omit } from '@intertie/core/internal';
import type { EndpointRoute, JsonObject, ProtocolEndpoints } from '@intertie/core';
import { createErrorBody, toRequestError } from './server/openai-error.ts';
import type { OpenAIHandler } from './server/openai-handler.ts';
import type { Flavour } from './shared/response-event.ts';

type Endpoint = EndpointRoute & { handle: (handler: OpenAIHandler) => Response | Promise<Response> };

const idText = { type: 'string' } satisfies JsonObject;

const responseBody: JsonObject = {
  type: 'object',
  required: ['input'],
  properties: {
    model: { type: 'string', description: 'Name of the agent. Default: the default agent.' },
    input: { description: 'Text, or items.' },
    stream: { type: 'boolean' },
    background: { type: 'boolean' },
    store: { type: 'boolean' },
    previous_response_id: idText,
    conversation: { description: 'Id of the thread, or an object with it.' },
    instructions: { type: 'string' },
    tools: { type: 'array' },
    metadata: { type: 'object' },
  },
};

const chatBody: JsonObject = {
  type: 'object',
  required: ['messages'],
  properties: {
    model: { type: 'string', description: 'Name of the agent. Default: the default agent.' },
    messages: { type: 'array' },
    stream: { type: 'boolean' },
    tools: { type: 'array' },
  },
};

const prefixes = { openai: '/v1', 'open-responses': '/open-responses/v1' } satisfies { [name in Flavour]: string };

/** Endpoints below one prefix. Its flavour is chosen by the path, never guessed. */
function createEndpoints(prefix: string): Endpoint[] {
  const response = `${prefix}/responses/{id}`;
  return [
    {
      method: 'GET',
      path: `${prefix}/models`,
      summary: 'Lists the agents as models.',
      answers: { 200: 'json' },
      handle: (handler) => handler.listModels(),
    },
    {
      method: 'GET',
      path: `${prefix}/models/{model}`,
      summary: 'Returns an agent as a model.',
      answers: { 200: 'json' },
      handle: (handler) => handler.getModel(),
    },
    {
      method: 'POST',
      path: `${prefix}/responses`,
      summary: 'Runs an agent, or answers its calls. Streams with `stream`.',
      body: responseBody,
      answers: { 200: 'sse' },
      handle: (handler) => handler.createResponse(),
    },
    {
      method: 'GET',
      path: response,
      summary: 'Returns a response, or streams its events.',
      query: { stream: 'true: stream the events.', starting_after: 'Sequence number of the last event that was read.' },
      answers: { 200: 'sse' },
      handle: (handler) => handler.getResponse(),
    },
    {
      method: 'DELETE',
      path: response,
      summary: 'Deletes a response and everything after it.',
      answers: { 200: 'json' },
      handle: (handler) => handler.deleteResponse(),
    },
    {
      method: 'POST',
      path: `${response}/cancel`,
      summary: 'Stops the run of a response.',
      answers: { 200: 'json' },
      handle: (handler) => handler.cancelResponse(),
    },
    {
      method: 'GET',
      path: `${response}/input_items`,
      summary: 'Lists the input of a response.',
      query: { after: 'Id of the last item of the previous page.', limit: '1 to 100.', order: 'asc or desc.' },
      answers: { 200: 'json' },
      handle: (handler) => handler.listInputItems(),
    },
  ];
}

const endpoints: ReadonlyArray<{ flavour: Flavour; endpoint: Endpoint }> = [
  ...createEndpoints(prefixes.openai).map((endpoint) => ({ flavour: 'openai' as const, endpoint })),
  {
    flavour: 'openai',
    endpoint: {
      method: 'POST',
      path: `${prefixes.openai}/chat/completions`,
      summary: 'Runs an agent as a chat completion. Streams with `stream`.',
      body: chatBody,
      answers: { 200: 'sse' },
      handle: (handler) => handler.createChatCompletion(),
    },
  },
  ...createEndpoints(prefixes['open-responses']).map((endpoint) => ({ flavour: 'open-responses' as const, endpoint })),
];

/** Endpoints of the OpenAI API for the agents of a server. */
export const openaiEndpoints: ProtocolEndpoints = {
  routes: endpoints.map(({ endpoint }) => omit(endpoint, 'handle')),
  basePaths: Object.values(prefixes),
  hasOwnErrors: true,
  createErrorBody,
  async createHandler(options) {
    const { OpenAIHandler } = await import('./server/openai-handler.ts');
    const byRoute = new Map(endpoints.map((entry) => [`${entry.endpoint.method} ${entry.endpoint.path}`, entry]));
    return async (request) => {
      const { flavour, endpoint } = byRoute.get(`${request.route.method} ${request.route.path}`)!;
      try {
        return await endpoint.handle(new OpenAIHandler(request, flavour, options));
      } catch (error) {
        const known = toRequestError(error);
        if (known === undefined) throw error;
        return known.toResponse();
      }
    };
  },
};
