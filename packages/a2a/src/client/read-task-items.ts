import { asFields, asNonEmptyText, pause } from '@intertie/core/internal';
import { isInterrupted, isTerminal } from '../shared/a2a-types.ts';
import type { A2AConnection } from './a2a-connection.ts';

export type ReadTaskOptions = {
  connect: () => Promise<A2AConnection>;
  /** Aborts when the items are no longer read. */
  leave: AbortSignal;
  /** Whether `leave` means that the task is canceled. */
  isStopped: () => boolean;
  /** Whether the run continues after its process has died. */
  isResumed: boolean;
  /** Task to subscribe to. Absent: the request is sent. */
  taskId: string | undefined;
  createRequest: (hasExtension: boolean) => object;
};

/** Number of times that a broken stream is opened again without an item, and the first delay. It doubles each time. */
const maxRetries = 5;
const retryMs = 250;
const cancelTimeoutMs = 5000;

/** Reads the items of a task until it ends or waits. Subscribes again if the stream breaks. */
export async function* readTaskItems(options: ReadTaskOptions): AsyncGenerator<unknown, void, undefined> {
  const { connect, leave, isStopped, isResumed, createRequest } = options;
  let { taskId } = options;
  const connection = await connect();
  const { client, hasExtension, toOptions } = connection;
  const { SendMessageRequest, StreamResponse } = await import('@a2a-js/sdk');
  const requestOptions = toOptions(leave);
  // Agents of Intertie recognize a repeated message. Others may have begun a task that is unknown here.
  if (taskId === undefined && isResumed && !hasExtension) {
    throw toLost('The process died before the agent had returned the id of its task. Send the message again.');
  }
  const onLeave = (): void => {
    if (taskId !== undefined && isStopped()) void cancelTask(connection, taskId);
  };
  leave.addEventListener('abort', onLeave, { once: true });
  try {
    let items: AsyncIterable<unknown> =
      taskId === undefined
        ? toJson(client.sendMessageStream(SendMessageRequest.fromJSON(createRequest(hasExtension)), requestOptions))
        : subscribe(connection, taskId, leave);
    for (let retries = 0; ; retries += 1) {
      try {
        for await (const item of items) {
          retries = 0;
          const { id, state, isMessage } = readItem(item);
          taskId = id ?? taskId;
          yield item;
          if (isMessage || isTerminal(state) || isInterrupted(state)) return;
        }
      } catch (error) {
        if (leave.aborted || taskId === undefined || retries >= maxRetries || !isConnectionError(error)) throw error;
      }
      if (leave.aborted || taskId === undefined || retries >= maxRetries) return;
      await pause(retryMs * 2 ** retries, leave);
      items = subscribe(connection, taskId, leave);
    }
  } finally {
    leave.removeEventListener('abort', onLeave);
  }

  async function* toJson(responses: AsyncIterable<Parameters<typeof StreamResponse.toJSON>[0]>): AsyncGenerator {
    for await (const response of responses) yield StreamResponse.toJSON(response);
  }
}

/** Subscribes to a task. A task that has ended, or an agent without streams, returns the task alone. */
async function* subscribe({ client, toOptions }: A2AConnection, id: string, leave: AbortSignal): AsyncGenerator {
  const { StreamResponse, Task } = await import('@a2a-js/sdk');
  const options = toOptions(leave);
  try {
    for await (const item of client.resubscribeTask({ id, tenant: '' }, options)) yield StreamResponse.toJSON(item);
  } catch (error) {
    if (hasName(error, 'TaskNotFoundError')) {
      throw toLost(
        `The agent no longer has the task "${id}" of this run. The output so far is kept. Send the message again.`,
      );
    }
    if (!hasName(error, 'UnsupportedOperationError')) throw error;
    yield { task: Task.toJSON(await client.getTask({ id, tenant: '' }, options)) };
  }
}

async function cancelTask({ client }: A2AConnection, id: string): Promise<void> {
  const options = { signal: AbortSignal.timeout(cancelTimeoutMs) };
  // The run has ended. A task that cannot be canceled any more has ended, too.
  await client.cancelTask({ id, tenant: '', metadata: {} }, options).catch(() => undefined);
}

function readItem(item: unknown): { id: string | undefined; state: unknown; isMessage: boolean } {
  const { task, message, statusUpdate, artifactUpdate } = asFields(item);
  const { taskId, status } = asFields(statusUpdate ?? artifactUpdate);
  const { id = taskId, status: current = status } = asFields(task);
  return { id: asNonEmptyText(id), state: asFields(current).state, isMessage: message !== undefined };
}

/** Errors of the protocol are final. Everything else is a broken connection. */
function isConnectionError(error: unknown): boolean {
  return !(error instanceof Error && ('reason' in error || 'code' in error));
}

function hasName(error: unknown, name: string): boolean {
  return error instanceof Error && error.name === name;
}

function toLost(message: string): Error {
  return Object.assign(new Error(message), { code: 'lost' });
}
