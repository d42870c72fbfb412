import { asFields, asNonEmptyText, pause } from '@intertie/core/internal';
import { listInputIds } from '../decode/decode-inputs.ts';
import { isInterrupted, isTerminal } from '../shared/a2a-types.ts';
import type { A2AConnection, Connect } from './a2a-connection.ts';

export type ReadTaskOptions = {
  connect: Connect;
  /** Aborts when the items are no longer read. */
  leave: AbortSignal;
  /** Whether `leave` means that the task is canceled. */
  isStopped: () => boolean;
  /** Whether the run continues after its process has died. */
  isResumed: boolean;
  /** Task that the log of a resumed run names. */
  taskId: string | undefined;
  /** Task whose questions the request answers. */
  answered: AnsweredTask | undefined;
  createRequest: (hasExtension: boolean) => object;
};

export type AnsweredTask = { id: string; waitingFor: ReadonlySet<string> };

/** Number of times that a broken stream is opened again without an item, and the first delay. It doubles each time. */
const maxRetries = 5;
const retryMs = 250;
const cancelTimeoutMs = 5000;

/** Reads the items of a task until it ends or waits. Subscribes again if the stream breaks. */
export async function* readTaskItems(options: ReadTaskOptions): AsyncGenerator<unknown, void, undefined> {
  const { connect, leave, isStopped, isResumed, answered, createRequest } = options;
  let { taskId } = options;
  const connection = await connect(isResumed).catch((error: unknown) => {
    throw isResumed
      ? toLost('The agent cannot be reached. The output so far is kept. Send the message again.', error)
      : error;
  });
  const { client, hasExtension, toOptions } = connection;
  const { SendMessageRequest, StreamResponse } = await import('@a2a-js/sdk');
  const requestOptions = toOptions(leave);
  const cancel = (): void => {
    const id = taskId ?? answered?.id;
    if (id !== undefined && isStopped()) void cancelTask(connection, id);
  };
  // The run may have been stopped while the card was read.
  if (leave.aborted) return cancel();
  leave.addEventListener('abort', cancel, { once: true });
  try {
    taskId = await findTaskToJoin(connection, options);
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
    leave.removeEventListener('abort', cancel);
  }

  async function* toJson(responses: AsyncIterable<Parameters<typeof StreamResponse.toJSON>[0]>): AsyncGenerator {
    for await (const response of responses) yield StreamResponse.toJSON(response);
  }
}

/** Returns the task to subscribe to; undefined if the request must be sent. Throws a `lost` error if neither continues the run. */
async function findTaskToJoin(
  connection: A2AConnection,
  { isResumed, taskId, answered, leave }: ReadTaskOptions,
): Promise<string | undefined> {
  if (!isResumed || taskId !== undefined) return taskId;
  // Agents of Intertie recognize a repeated request.
  if (connection.hasExtension) return undefined;
  // Others may have begun a task that is unknown here.
  if (answered === undefined) {
    throw toLost('The process died before the agent had returned the id of its task. Send the message again.');
  }
  // A task that still waits for these answers has not received them.
  const waitingFor = await readInputIds(connection, answered.id, leave);
  return waitingFor.some((id) => answered.waitingFor.has(id)) ? undefined : answered.id;
}

/** Reads the ids of the questions and calls that a task waits for. */
async function readInputIds(
  { client, toOptions }: A2AConnection,
  taskId: string,
  leave: AbortSignal,
): Promise<string[]> {
  const { Task } = await import('@a2a-js/sdk');
  try {
    const { status } = asFields(Task.toJSON(await client.getTask({ id: taskId, tenant: '' }, toOptions(leave))));
    return listInputIds(taskId, status);
  } catch (error) {
    throw hasName(error, 'TaskNotFoundError') ? toGoneError(taskId) : error;
  }
}

/** Subscribes to a task. A task that has ended, or an agent without streams, returns the task alone. */
async function* subscribe({ client, toOptions }: A2AConnection, id: string, leave: AbortSignal): AsyncGenerator {
  const { StreamResponse, Task } = await import('@a2a-js/sdk');
  const options = toOptions(leave);
  try {
    for await (const item of client.resubscribeTask({ id, tenant: '' }, options)) yield StreamResponse.toJSON(item);
  } catch (error) {
    if (hasName(error, 'TaskNotFoundError')) throw toGoneError(id);
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

function toGoneError(id: string): Error {
  return toLost(
    `The agent no longer has the task "${id}" of this run. The output so far is kept. Send the message again.`,
  );
}

function toLost(message: string, cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), { code: 'lost' });
}
