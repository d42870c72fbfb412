import {
  A2A_CONTENT_TYPE,
  ListTasksResponse,
  Message,
  SendMessageRequest,
  StreamResponse,
  Task,
  TaskState,
  taskStateFromJSON,
  type ListTasksRequest,
} from '@a2a-js/sdk';
import { RequestMalformedError, restStatusFor, toRestErrorBody } from '@a2a-js/sdk/errors';
import { isFields } from '@intertie/core/internal';
import { toExtensionHeaders, type A2ACall } from './a2a-call.ts';
import type { DurableRequestHandler } from './durable-request-handler.ts';
import { createSSEResponse } from './sse-response.ts';
import { InternalA2AError, toA2AError } from './to-a2a-error.ts';

export type RestRoute = { name: RouteName; id: string };
type RouteName = 'send' | 'stream' | 'list' | 'get' | 'cancel' | 'subscribe' | 'push' | 'card';

const patterns: ReadonlyArray<{ name: RouteName; method: string; path: RegExp }> = [
  { name: 'send', method: 'POST', path: /^\/message:send$/ },
  { name: 'stream', method: 'POST', path: /^\/message:stream$/ },
  { name: 'list', method: 'GET', path: /^\/tasks$/ },
  { name: 'cancel', method: 'POST', path: /^\/tasks\/([^/]+):cancel$/ },
  { name: 'subscribe', method: 'GET|POST', path: /^\/tasks\/([^/]+):subscribe$/ },
  { name: 'get', method: 'GET', path: /^\/tasks\/([^/]+)$/ },
  { name: 'push', method: 'GET|POST|DELETE', path: /^\/tasks\/([^/]+)\/pushNotificationConfigs(?:\/[^/]+)?$/ },
  { name: 'card', method: 'GET', path: /^\/extendedAgentCard$/ },
];

/** Finds the operation of an HTTP+JSON request by its path below the endpoint. */
export function matchRestRoute(method: string, path: string): RestRoute | undefined {
  for (const { name, method: methods, path: pattern } of patterns) {
    const match = methods.split('|').includes(method) ? pattern.exec(path) : null;
    if (match) return { name, id: decodeURIComponent(match[1] ?? '') };
  }
  return undefined;
}

/** Serves an HTTP+JSON request. The SDK has this binding for Express only. */
export async function serveRest({ name, id }: RestRoute, call: A2ACall): Promise<Response> {
  const { request, body, context, createHandler } = call;
  if (body !== undefined && !isFields(body)) throw new RequestMalformedError('The body is not a JSON object.');
  const handler = createHandler(body ?? {});
  const query = new URL(request.url).searchParams;
  switch (name) {
    case 'send': {
      const sent = await handler.sendMessage(SendMessageRequest.fromJSON(body ?? {}), context);
      const isMessage = 'messageId' in sent;
      return respond(call, isMessage ? { message: Message.toJSON(sent) } : { task: Task.toJSON(sent) });
    }
    case 'stream':
      return stream(call, handler.sendMessageStream(SendMessageRequest.fromJSON(body ?? {}), context));
    case 'subscribe':
      return stream(call, handler.resubscribe({ id, tenant: '' }, context));
    case 'get': {
      const historyLength = readCount(query, 'historyLength');
      return respond(call, Task.toJSON(await handler.getTask({ id, tenant: '', historyLength }, context)));
    }
    case 'cancel':
      return respond(call, Task.toJSON(await handler.cancelTask({ id, tenant: '', metadata: {} })));
    case 'list':
      return respond(call, await listTasks(handler, query));
    case 'push':
      return handler.createTaskPushNotificationConfig();
    case 'card':
      return respond(call, await handler.getAuthenticatedExtendedAgentCard());
  }
}

async function listTasks(handler: DurableRequestHandler, query: URLSearchParams): Promise<object> {
  const status = query.get('status');
  const params: ListTasksRequest = {
    tenant: '',
    contextId: query.get('contextId') ?? '',
    status: status === null || status === '' ? TaskState.TASK_STATE_UNSPECIFIED : taskStateFromJSON(status),
    pageSize: readCount(query, 'pageSize'),
    pageToken: query.get('pageToken') ?? '',
    historyLength: readCount(query, 'historyLength'),
    statusTimestampAfter: query.get('statusTimestampAfter') ?? undefined,
    includeArtifacts: query.get('includeArtifacts') === 'true',
  };
  const listed = await handler.listTasks(params);
  const { tasks = [] } = ListTasksResponse.toJSON(listed) as { tasks?: object[] };
  const { nextPageToken, pageSize, totalSize } = listed;
  const withArtifacts = params.includeArtifacts ? tasks.map((task) => ({ artifacts: [], ...task })) : tasks;
  return { tasks: withArtifacts, nextPageToken, pageSize, totalSize };
}

function readCount(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name);
  if (value === null || value === '') return undefined;
  return /^-?\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
}

function respond(call: A2ACall, body: unknown): Response {
  return Response.json(body, { headers: { 'content-type': A2A_CONTENT_TYPE, ...toExtensionHeaders(call) } });
}

function stream(call: A2ACall, items: AsyncGenerator<StreamResponse, void>): Promise<Response> {
  return createSSEResponse(items, {
    toJson: (item) => StreamResponse.toJSON(item),
    toErrorJson: (error) => toRestErrorBody(error, getRestStatus(error)),
    keepAliveMs: call.keepAliveMs,
    getHeaders: () => toExtensionHeaders(call),
    onCancel: call.cancel,
  });
}

export function toRestErrorResponse(thrown: unknown): Response {
  const error = toA2AError(thrown);
  const status = getRestStatus(error);
  const headers = new Headers({ 'content-type': A2A_CONTENT_TYPE });
  const retryAfter = error instanceof InternalA2AError ? error.retryAfter : undefined;
  if (retryAfter !== undefined) headers.set('retry-after', String(retryAfter));
  return Response.json(toRestErrorBody(error, status), { status, headers });
}

function getRestStatus(error: unknown): number {
  return error instanceof InternalA2AError ? error.status : restStatusFor(error);
}
