import type { EndpointRoute, JsonObject, ProtocolEndpoints } from '@intertie/core';
import { defined } from '@intertie/core/internal';

const endpointPath = '/api/agents/{agent}/a2a';

const message: JsonObject = {
  type: 'object',
  required: ['message'],
  properties: {
    message: {
      type: 'object',
      required: ['messageId', 'parts'],
      properties: {
        messageId: { type: 'string' },
        contextId: { type: 'string' },
        taskId: { type: 'string' },
        role: { type: 'string' },
        parts: { type: 'array', items: { type: 'object' } },
      },
    },
    configuration: { type: 'object' },
  },
};

const routes: readonly EndpointRoute[] = [
  {
    method: 'GET',
    path: '/.well-known/agent-card.json',
    summary: 'A2A card of the default agent.',
    answers: { 200: 'json', 304: 'nothing' },
    isPublic: true,
  },
  {
    method: 'GET',
    path: `${endpointPath}/.well-known/agent-card.json`,
    summary: 'A2A card of an agent.',
    answers: { 200: 'json', 304: 'nothing' },
    isPublic: true,
  },
  {
    method: 'POST',
    path: endpointPath,
    summary: 'Serves A2A 1.0 clients over JSON-RPC.',
    body: {
      type: 'object',
      required: ['jsonrpc', 'method'],
      properties: { jsonrpc: { const: '2.0' }, method: { type: 'string' }, id: {}, params: { type: 'object' } },
    },
    answers: { 200: 'sse' },
  },
  {
    method: 'POST',
    path: `${endpointPath}/`,
    summary: 'The same, for clients that add a slash.',
    body: { type: 'object' },
    answers: { 200: 'sse' },
  },
  {
    method: 'POST',
    path: `${endpointPath}/message:send`,
    summary: 'Sends a message, and waits until its task has ended or needs input (A2A, HTTP+JSON).',
    body: message,
    answers: { 200: 'json' },
  },
  {
    method: 'POST',
    path: `${endpointPath}/message:stream`,
    summary: 'Sends a message, and streams its task (A2A, HTTP+JSON).',
    body: message,
    answers: { 200: 'sse' },
  },
  {
    method: 'GET',
    path: `${endpointPath}/tasks`,
    summary: 'Lists tasks, the last changed first (A2A, HTTP+JSON).',
    query: {
      contextId: 'Only tasks of a thread.',
      status: 'Only tasks in a state.',
      pageSize: '1 to 100.',
      pageToken: 'Token of the previous page.',
      historyLength: 'Maximum number of messages per task.',
      statusTimestampAfter: 'Only tasks that changed since.',
      includeArtifacts: 'true: with the output.',
    },
    answers: { 200: 'json' },
  },
  {
    method: 'GET',
    path: `${endpointPath}/tasks/{task}:subscribe`,
    summary: 'Streams a task from its current state (A2A, HTTP+JSON).',
    answers: { 200: 'sse' },
  },
  {
    method: 'POST',
    path: `${endpointPath}/tasks/{task}:subscribe`,
    summary: 'Streams a task from its current state (A2A, HTTP+JSON).',
    answers: { 200: 'sse' },
  },
  {
    method: 'POST',
    path: `${endpointPath}/tasks/{task}:cancel`,
    summary: 'Cancels a task (A2A, HTTP+JSON).',
    answers: { 200: 'json' },
  },
  {
    method: 'GET',
    path: `${endpointPath}/tasks/{task}`,
    summary: 'Returns a task (A2A, HTTP+JSON).',
    query: { historyLength: 'Maximum number of messages.' },
    answers: { 200: 'json' },
  },
  ...toUnsupportedRoutes(),
];

/** Operations that the card declares as unsupported. They have errors of their own. */
function toUnsupportedRoutes(): EndpointRoute[] {
  const push = `${endpointPath}/tasks/{task}/pushNotificationConfigs`;
  const found: Array<[EndpointRoute['method'], string]> = [
    ['GET', `${endpointPath}/extendedAgentCard`],
    ['POST', push],
    ['GET', push],
    ['GET', `${push}/{config}`],
    ['DELETE', `${push}/{config}`],
  ];
  const summary = 'Not supported: always an error of A2A.';
  return found.map(([method, path]): EndpointRoute => {
    const answers = { 400: 'json' } as const;
    return method === 'POST'
      ? { method, path, summary, answers, body: { type: 'object' } }
      : { method, path, summary, answers };
  });
}

/** Endpoints for A2A clients on an Intertie server: one per agent, and the card of the default agent at the root. */
export const a2aEndpoints: ProtocolEndpoints = {
  routes,
  hasOwnErrors: true,
  async createHandler(options) {
    const { createA2AHandler } = await import('./server/create-a2a-handler.ts');
    const { limits, errorText, fileUrl, requiresToken, onError } = options;
    return ({ request, agent: { agent, name, description }, by, origin }) => {
      const basePath = endpointPath.replace('{agent}', encodeURIComponent(name));
      const isCard = new URL(request.url).pathname.endsWith('/agent-card.json');
      const cardUrl = new URL(`${basePath}/.well-known/agent-card.json`, request.url);
      return createA2AHandler(agent, {
        name,
        basePath,
        origin,
        by,
        limits,
        fileUrl: (sha256) => `${origin}${fileUrl(sha256)}`,
        requiresToken,
        ...defined({ description, errorText, onError }),
      })(isCard ? new Request(cardUrl, request) : request);
    };
  },
};
