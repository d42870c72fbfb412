import {
  AgentCard,
  ListTasksResponse,
  StreamResponse,
  Task,
  taskStateToJSON,
  type CancelTaskRequest,
  type GetTaskRequest,
  type ListTasksRequest,
  type Message,
  type SendMessageRequest,
  type SubscribeToTaskRequest,
} from '@a2a-js/sdk';
import {
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import {
  generateId,
  serveDurableRun,
  type Answer,
  type DurableAgent,
  type Json,
  type JsonObject,
  type RunRequest,
  type ServedRun,
} from '@intertie/core';
import { asFields, asNonEmptyText, defined, encodeBase64, isFields, pause } from '@intertie/core/internal';
import type { Decision, ToolAnswer } from '@intertie/core/store';
import {
  isTerminal,
  type A2AMessage,
  type A2AStreamItem,
  type A2ATask,
  type A2ATaskState,
} from '../shared/a2a-types.ts';
import { eventsExtension, readExtension } from '../shared/extension.ts';
import type { A2AHandlerOptions } from './a2a-handler-options.ts';
import { defaultInputModes } from './agent-card.ts';
import { toA2AError } from './to-a2a-error.ts';
import { readA2AMessage, readDataAnswers, toAnswer, toMessageParts, toTextAnswer } from './read-a2a-message.ts';
import { describeTask, findTask, readTask, toRunStates, type FoundTask } from './read-task.ts';
import { readTaskWithItems, streamRun, streamTask, type StreamTaskOptions } from './stream-task.ts';

export type RequestHandlerOptions = A2AHandlerOptions & {
  card: JsonObject;
  /** Parameters of the request as JSON. The SDK's types do not show which fields were absent. */
  params: unknown;
  /** Aborts when the client disconnects. */
  signal: AbortSignal;
};

type Sent = { served: ServedRun; history?: A2AMessage[] } | { open: FoundTask };

/**
 * Serves one request of an A2A client from the run log. A task is an assistant message, a context is a thread: a task continues
 * through pauses, a run does not. The SDK's own handler keeps events in its process, so its tasks end with the process.
 */
export class DurableRequestHandler implements A2ARequestHandler {
  #agent: DurableAgent;
  #options: RequestHandlerOptions;

  constructor(agent: DurableAgent, options: RequestHandlerOptions) {
    this.#agent = agent;
    this.#options = options;
  }

  async getAgentCard(): Promise<AgentCard> {
    return AgentCard.fromJSON(this.#options.card);
  }

  async getAuthenticatedExtendedAgentCard(): Promise<AgentCard> {
    throw new UnsupportedOperationError('The agent has no extended card.');
  }

  sendMessage(params: SendMessageRequest, context: ServerCallContext): Promise<Message | Task> {
    return this.#guard(async () => {
      const sent = await this.#send(context);
      if ('open' in sent) return this.#toTask(sent.open, params.configuration?.historyLength);
      const { messageId } = sent.served.run;
      if (!params.configuration?.returnImmediately) await this.#waitForEnd(sent.served);
      return this.#toTask(await findTask(this.#agent, messageId), params.configuration?.historyLength);
    });
  }

  async *sendMessageStream(_: SendMessageRequest, context: ServerCallContext): AsyncGenerator<StreamResponse, void> {
    const sent = await this.#guard(() => this.#send(context));
    if ('open' in sent) return yield toResponse({ task: await readTask(this.#agent, sent.open, this.#options) });
    const { served, history } = sent;
    const { state, record } = await this.#guard(async () => describeTask(this.#agent, await served.run.record()));
    const options = this.#toStreamOptions(context);
    // A queued run has no events yet.
    if (state === 'TASK_STATE_SUBMITTED')
      yield* this.#encode(streamUntilPaused(this.#agent, record.messageId, options));
    else yield* this.#encode(streamRun(this.#agent, served, { ...options, ...defined({ history }) }));
  }

  async *resubscribe({ id }: SubscribeToTaskRequest, context: ServerCallContext): AsyncGenerator<StreamResponse, void> {
    const { state } = await this.#guard(() => findTask(this.#agent, id));
    if (isTerminal(state)) throw new UnsupportedOperationError(`Task ${id} has ended as ${state}. Get it instead.`);
    yield* this.#encode(streamTask(this.#agent, id, this.#toStreamOptions(context)));
  }

  getTask({ id, historyLength }: GetTaskRequest, context: ServerCallContext): Promise<Task> {
    return this.#guard(async () => {
      checkCount('historyLength', historyLength, 0, Infinity);
      const task = await findTask(this.#agent, id);
      const options = { ...this.#toStreamOptions(context), historyLength };
      return toTask(await readTaskWithItems(this.#agent, task, options));
    });
  }

  listTasks(params: ListTasksRequest): Promise<ListTasksResponse> {
    return this.#guard(async () => {
      const {
        contextId,
        status,
        pageSize = 50,
        pageToken,
        statusTimestampAfter,
        historyLength,
        includeArtifacts,
      } = params;
      checkCount('pageSize', pageSize, 1, 100);
      checkCount('historyLength', historyLength, 0, Infinity);
      const { registry, scope } = this.#agent.store;
      const since = statusTimestampAfter ? new Date(statusTimestampAfter) : undefined;
      if (since && Number.isNaN(since.getTime()))
        throw new RequestMalformedError('statusTimestampAfter is not a time.');
      const named = taskStateToJSON(status) as A2ATaskState | 'TASK_STATE_UNSPECIFIED' | 'UNRECOGNIZED';
      if (named === 'UNRECOGNIZED') throw new RequestMalformedError('The status is not a state of a task.');
      const states = named === 'TASK_STATE_UNSPECIFIED' ? undefined : toRunStates(named);
      const page = await registry.listLatestRuns(scope, {
        agent: this.#agent.name,
        limit: pageSize,
        ...defined({ states, since }),
        ...(contextId && { threadId: contextId }),
        ...(pageToken && { cursor: pageToken }),
      });
      const tasks: Task[] = [];
      for (const { run } of page.runs) {
        const task = await describeTask(this.#agent, run);
        tasks.push(await this.#toTask(task, historyLength, includeArtifacts === true));
      }
      return { tasks, nextPageToken: page.cursor ?? '', pageSize, totalSize: page.total };
    });
  }

  cancelTask({ id }: CancelTaskRequest): Promise<Task> {
    return this.#guard(async () => {
      const { record, state } = await findTask(this.#agent, id);
      if (isTerminal(state)) throw new TaskNotCancelableError(`Task ${id} has already ended as ${state}.`);
      const { threadId, runId } = record;
      await serveDurableRun(this.#agent, { type: 'stop', threadId, runId, reason: 'Canceled by the client.' });
      const deadline = Date.now() + (this.#options.cancelWaitMs ?? 5000);
      for (;;) {
        const task = await findTask(this.#agent, id);
        if (isTerminal(task.state) || Date.now() > deadline) return this.#toTask(task);
        await pause(20, this.#options.signal);
      }
    });
  }

  async createTaskPushNotificationConfig(): Promise<never> {
    throw new PushNotificationNotSupportedError();
  }

  async getTaskPushNotificationConfig(): Promise<never> {
    throw new PushNotificationNotSupportedError();
  }

  async listTaskPushNotificationConfigs(): Promise<never> {
    throw new PushNotificationNotSupportedError();
  }

  async deleteTaskPushNotificationConfig(): Promise<never> {
    throw new PushNotificationNotSupportedError();
  }

  async #send(context: ServerCallContext): Promise<Sent> {
    const { params, inputModes = defaultInputModes } = this.#options;
    const message = readA2AMessage(params, inputModes);
    const { taskPushNotificationConfig } = asFields(asFields(params).configuration);
    if (isFields(taskPushNotificationConfig)) throw new PushNotificationNotSupportedError();
    return message.taskId ? this.#answer(message, message.taskId) : this.#start(message, context);
  }

  async #start(message: A2AMessage, context: ServerCallContext): Promise<Sent> {
    const { busy = 'queue', pending, by, generateId: createId = generateId } = this.#options;
    const { messageId, parts } = message;
    const threadId = asNonEmptyText(message.contextId) ?? createId();
    const request: RunRequest & { threadId: string } = {
      threadId,
      message: { id: messageId, content: { format: 2, parts: toMessageParts(parts) } },
      idempotencyKey: await toIdempotencyKey(message),
      ...(this.#isExtended(context) && readRequestFields(message)),
    };
    const served = await serveDurableRun(this.#agent, { type: 'start', request }, defined({ busy, pending, by }));
    const { run } = served;
    const history = [{ ...message, role: 'ROLE_USER' as const, contextId: run.threadId, taskId: run.messageId }];
    return { served, history };
  }

  /** Answers the questions of a task: by data parts with a `questionId`, or the only open question by text. */
  async #answer(message: A2AMessage, taskId: string): Promise<Sent> {
    const task = await findTask(this.#agent, taskId);
    const { threadId } = task.record;
    if (message.contextId && message.contextId !== threadId) {
      throw new RequestMalformedError(`Task ${taskId} belongs to context ${threadId}, not to ${message.contextId}.`);
    }
    const answers = new Map<string, Array<Answer | ToolAnswer>>();
    for (const { decision, answer } of await this.#readAnswers(message, task)) {
      answers.set(decision.runId, [...(answers.get(decision.runId) ?? []), answer]);
    }
    const { by } = this.#options;
    const served = await serveDurableRun(
      this.#agent,
      { type: 'answer', threadId, answers },
      { conflict: 'reject', by },
    );
    return served.type === 'open' ? { open: await findTask(this.#agent, taskId) } : { served };
  }

  async #readAnswers(
    message: A2AMessage,
    { record, open, state }: FoundTask,
  ): Promise<Array<{ decision: Decision; answer: Answer | ToolAnswer }>> {
    const given = readDataAnswers(message);
    if (given.size > 0) {
      const { registry, scope } = this.#agent.store;
      const decisions = await registry.listDecisions(scope, { threadId: record.threadId });
      return [...given].map(([id, fields]) => {
        const decision = decisions.findLast((each) => each.id === id && each.messageId === record.messageId);
        if (decision) return { decision, answer: toAnswer(decision, fields) };
        throw new RequestMalformedError(`Task ${record.messageId} has no question ${id}.`);
      });
    }
    const [decision, ...others] = open;
    if (!decision) {
      const fix = isTerminal(state)
        ? 'Send the message without the taskId.'
        : 'Wait until it needs input, or cancel it.';
      throw new UnsupportedOperationError(`Task ${record.messageId} is ${state} and takes no message. ${fix}`);
    }
    if (others.length > 0) {
      const ids = open.map(({ id }) => id).join(', ');
      throw new RequestMalformedError(
        `Task ${record.messageId} has ${open.length} open questions. Answer with data parts: { questionId } of ${ids}.`,
      );
    }
    const text = message.parts.map((part) => part.text ?? (part.data === undefined ? '' : JSON.stringify(part.data)));
    return [{ decision, answer: toTextAnswer(decision, text.join('')) }];
  }

  async #waitForEnd(served: ServedRun): Promise<void> {
    const { signal } = this.#options;
    const reader = served.follow().getReader();
    const close = (): void => void reader.cancel().catch(() => undefined);
    signal.addEventListener('abort', close, { once: true });
    try {
      while (!(await reader.read()).done);
    } finally {
      signal.removeEventListener('abort', close);
    }
  }

  async #toTask(task: FoundTask, historyLength?: number, hasArtifacts = true): Promise<Task> {
    return toTask(await readTask(this.#agent, task, { ...this.#options, historyLength, hasArtifacts }));
  }

  #toStreamOptions(context: ServerCallContext): StreamTaskOptions {
    const { errorText, fileUrl, onLoss, pollMs, signal } = this.#options;
    const extension = this.#isExtended(context);
    return { extension, signal, ...defined({ errorText, fileUrl, onLoss, pollMs }) };
  }

  #isExtended(context: ServerCallContext): boolean {
    const isRequested = context.requestedExtensions?.includes(eventsExtension) ?? false;
    if (isRequested) context.addActivatedExtension(eventsExtension);
    return isRequested;
  }

  async *#encode(items: AsyncGenerator<A2AStreamItem, void>): AsyncGenerator<StreamResponse, void> {
    try {
      for await (const item of items) yield toResponse(item);
    } catch (error) {
      throw toA2AError(error, this.#options.onError);
    }
  }

  async #guard<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      throw toA2AError(error, this.#options.onError);
    }
  }
}

/** Streams a queued task, and ends when it waits for input, like the stream of a task that started at once. */
async function* streamUntilPaused(
  agent: DurableAgent,
  taskId: string,
  options: StreamTaskOptions,
): AsyncGenerator<A2AStreamItem, void> {
  for await (const item of streamTask(agent, taskId, options)) {
    yield item;
    if ('statusUpdate' in item && item.statusUpdate.status.state === 'TASK_STATE_INPUT_REQUIRED') return;
  }
}

/** Recognizes a message that is sent again. Some clients use an id for several messages, so their content is part of the key. */
async function toIdempotencyKey({ messageId, contextId = '', parts }: A2AMessage): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify([messageId, contextId, parts]));
  return `a2a:${encodeBase64(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)))}`;
}

/** Fields of a run request in the metadata of the extension. */
function readRequestFields(message: A2AMessage): Partial<RunRequest> {
  const { tools, context, state, forwardedProps } = asFields(readExtension(message).request);
  return {
    ...(Array.isArray(tools) && { tools: tools as NonNullable<RunRequest['tools']> }),
    ...(Array.isArray(context) && { context: context as NonNullable<RunRequest['context']> }),
    ...(state !== undefined && { state: state as Json }),
    ...(forwardedProps !== undefined && { forwardedProps: forwardedProps as Json }),
  };
}

function checkCount(name: string, value: number | undefined, min: number, max: number): void {
  if (value === undefined || (Number.isInteger(value) && value >= min && value <= max)) return;
  throw new RequestMalformedError(`${name} is ${value}. It must be a whole number from ${min} to ${max}.`);
}

const toTask = (task: A2ATask): Task => Task.fromJSON(task);
const toResponse = (item: A2AStreamItem): StreamResponse => StreamResponse.fromJSON(item);
