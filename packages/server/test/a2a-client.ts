import {
  Message,
  SendMessageRequest,
  StreamResponse,
  Task,
  type CancelTaskRequest,
  type GetTaskRequest,
  type ListTasksRequest,
} from '@a2a-js/sdk';
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import type { A2AMessage, A2APart, A2AStreamItem, A2ATask } from '@intertie/a2a';

export type Binding = 'JSONRPC' | 'HTTP+JSON';
export const bindings: readonly Binding[] = ['JSONRPC', 'HTTP+JSON'];

export type TestClient = Awaited<ReturnType<typeof connectA2A>>;

/** Connects the SDK's client to an agent. All objects are JSON, as they are sent. */
export async function connectA2A(url: string, binding: Binding, headers: Record<string, string> = {}) {
  const fetchImpl: typeof fetch = (input, init) => {
    const all = new Headers(init?.headers);
    for (const [name, value] of Object.entries(headers)) all.set(name, value);
    return fetch(input, { ...init, headers: all });
  };
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })],
    preferredTransports: [binding],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  });
  const client = await factory.createFromUrl(`${url.replace(/\/*$/, '')}/`);
  const toRequest = (message: Partial<A2AMessage>, configuration?: object): SendMessageRequest =>
    SendMessageRequest.fromJSON({
      message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', ...message },
      ...(configuration && { configuration }),
    });
  const toJson = (item: StreamResponse): A2AStreamItem => StreamResponse.toJSON(item) as A2AStreamItem;
  return {
    client,
    async send(message: Partial<A2AMessage>, configuration?: object): Promise<A2ATask> {
      const result = await client.sendMessage(toRequest(message, configuration));
      if ('messageId' in result) throw new Error(`A message: ${JSON.stringify(Message.toJSON(result))}`);
      return Task.toJSON(result) as A2ATask;
    },
    async *stream(message: Partial<A2AMessage>, signal?: AbortSignal): AsyncGenerator<A2AStreamItem> {
      for await (const item of client.sendMessageStream(toRequest(message), signal && { signal })) yield toJson(item);
    },
    async *subscribe(id: string, signal?: AbortSignal): AsyncGenerator<A2AStreamItem> {
      for await (const item of client.resubscribeTask({ id, tenant: '' }, signal && { signal })) yield toJson(item);
    },
    async get(id: string, rest: Partial<GetTaskRequest> = {}): Promise<A2ATask> {
      return Task.toJSON(await client.getTask({ id, tenant: '', ...rest })) as A2ATask;
    },
    async cancel(id: string, rest: Partial<CancelTaskRequest> = {}): Promise<A2ATask> {
      return Task.toJSON(await client.cancelTask({ id, tenant: '', metadata: {}, ...rest })) as A2ATask;
    },
    async list(rest: Partial<ListTasksRequest> = {}): Promise<{ tasks: A2ATask[]; next: string; total: number }> {
      const params = { tenant: '', contextId: '', status: 0, pageToken: '', statusTimestampAfter: undefined };
      const { tasks, nextPageToken, totalSize } = await client.listTasks({ ...params, ...rest });
      return { tasks: tasks.map((task) => Task.toJSON(task) as A2ATask), next: nextPageToken, total: totalSize };
    },
  };
}

export const text = (value: string): { parts: A2APart[] } => ({ parts: [{ text: value }] });

/** Applies the items of a stream to a task, as clients do. */
export function foldItems(items: readonly A2AStreamItem[]): A2ATask {
  const [first] = items;
  if (!first || !('task' in first)) throw new Error(`The stream begins with ${JSON.stringify(first)}`);
  const task = structuredClone(first.task);
  const artifacts = new Map((task.artifacts ?? []).map((artifact) => [artifact.artifactId, artifact]));
  for (const item of items.slice(1)) {
    if ('statusUpdate' in item) task.status = item.statusUpdate.status;
    if (!('artifactUpdate' in item)) continue;
    const { artifact, append } = item.artifactUpdate;
    const known = append ? artifacts.get(artifact.artifactId) : undefined;
    if (known) known.parts.push(...artifact.parts);
    else artifacts.set(artifact.artifactId, structuredClone(artifact));
  }
  return { ...task, artifacts: [...artifacts.values()] };
}

export function getText({ artifacts = [] }: A2ATask): string {
  return artifacts.flatMap(({ parts }) => parts.map((part) => part.text ?? '')).join('');
}

/** Data parts of the input that a task waits for. */
export function getInputs({ status }: A2ATask): Array<{ questionId: string; kind: string }> {
  return (status.message?.parts ?? []).flatMap(({ data }) => (data === undefined ? [] : [data as never]));
}
