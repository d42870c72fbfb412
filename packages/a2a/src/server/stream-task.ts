import { transcode, type AgentEvent, type DurableAgent, type Emit, type Encoder, type ServedRun } from '@intertie/core';
import { withPublicFaults } from '@intertie/core/http';
import { defined, pause, resolveEventFileUrls } from '@intertie/core/internal';
import { createA2AEncoder, type A2AOpenState } from '../encode/encode-a2a.ts';
import {
  isTerminal,
  type A2AMessage,
  type A2AStreamItem,
  type A2ATask,
  type A2ATaskState,
} from '../shared/a2a-types.ts';
import { toExtensionMetadata } from '../shared/extension.ts';
import type { A2AHandlerOptions } from './a2a-handler-options.ts';
import { findTask, joinTask, readTask, type FoundTask, type ReadTaskOptions } from './read-task.ts';

export type StreamTaskOptions = Pick<A2AHandlerOptions, 'errorText' | 'fileUrl' | 'onLoss' | 'pollMs'> & {
  /** Whether the client has activated the extension. */
  extension: boolean;
  history?: A2AMessage[];
  /** Aborts when the client disconnects. */
  signal: AbortSignal;
};

/**
 * Streams a run to its end, or until it waits for input. Begins with the task: of a new run from its first event, otherwise with the
 * artifacts so far. Ends early, without an error, when the client disconnects.
 */
export async function* streamRun(
  agent: DurableAgent,
  served: ServedRun,
  options: StreamTaskOptions,
): AsyncGenerator<A2AStreamItem, void, undefined> {
  const { fileUrl, signal } = options;
  const encoder = createEncoder(served, options);
  const resolve = (events: readonly AgentEvent[]): Promise<readonly AgentEvent[]> =>
    resolveEventFileUrls(events, agent.store, fileUrl);
  const items: A2AStreamItem[] = [];
  const emit: Emit<A2AStreamItem> = (item) => void items.push(item);
  const caught = served.isNew ? null : await served.catchUp();
  if (caught && caught.events.length > 0) encoder.open?.({ events: await resolve(caught.events) }, emit);
  yield* items.splice(0);
  if (caught?.events.at(-1)?.type === 'run-end') return;
  let hasBegun = (caught?.events.length ?? 0) > 0;
  const reader = (caught ? caught.follow() : served.follow()).getReader();
  const close = (): void => void reader.cancel().catch(() => undefined);
  signal.addEventListener('abort', close, { once: true });
  try {
    for (;;) {
      const { done, value } = signal.aborted ? ({ done: true } as const) : await reader.read();
      if (done) return;
      if (value.type === 'reset' || value.type === 'dropped') throw new Error('The log of the run was rewritten.');
      const events = value.type === 'events' ? await resolve(value.events) : [value.event];
      // The run was stopped before it started.
      if (!hasBegun && events[0]?.type === 'run-end') encoder.feed(toStart(served), emit);
      hasBegun = true;
      for (const event of events) encoder.feed(event, emit);
      yield* items.splice(0);
      if (events.at(-1)?.type === 'run-end') return;
    }
  } finally {
    signal.removeEventListener('abort', close);
    close();
  }
}

function toStart({ run: { runId, threadId, messageId } }: ServedRun): AgentEvent {
  return { type: 'run-start', runId, threadId, messageId };
}

function createEncoder(
  { run: { runId } }: ServedRun,
  { extension, history, errorText, onLoss }: Omit<StreamTaskOptions, 'signal'>,
): Encoder<A2AStreamItem, A2AOpenState> {
  return withPublicFaults(createA2AEncoder({ extension, ...defined({ history, onLoss }) }), { runId, errorText });
}

/** Reads the current state of a task. With the extension it contains the updates so far, because a task has no place for most events. */
export async function readTaskWithItems(
  agent: DurableAgent,
  task: FoundTask,
  options: StreamTaskOptions & ReadTaskOptions,
): Promise<A2ATask> {
  if (!options.extension) return readTask(agent, task, options);
  const items = await readItems(agent, task, options);
  return { ...(await readTask(agent, task, options)), ...toExtensionMetadata({ items }) };
}

/** Returns no updates if the log of the run was dropped. */
async function readItems(
  agent: DurableAgent,
  { record }: FoundTask,
  options: Omit<StreamTaskOptions, 'signal'>,
): Promise<A2AStreamItem[]> {
  const served = await joinTask(agent, record);
  const caught = await served?.catchUp();
  if (!served || !caught) return [];
  const encoder = createEncoder(served, options);
  const events = await resolveEventFileUrls(caught.events, agent.store, options.fileUrl);
  return transcode(encoder, events).filter((item) => !('task' in item));
}

/** Streams a task from its current state until it is terminal, also through pauses that other clients answer. */
export async function* streamTask(
  agent: DurableAgent,
  taskId: string,
  options: StreamTaskOptions,
): AsyncGenerator<A2AStreamItem, void, undefined> {
  const { signal, pollMs = 500 } = options;
  let isFirst = true;
  /** Run and state that the client has. A run that waits in its process continues under the same key. */
  let sent = '';
  while (!signal.aborted) {
    const task = await findTask(agent, taskId);
    const { record } = task;
    let { state } = task;
    if (sent !== `${record.key} ${state}`) {
      const served = state === 'TASK_STATE_WORKING' ? await joinTask(agent, record) : null;
      const items = served ? streamRun(agent, served, options) : readCurrent(agent, task, options);
      for await (const item of items) {
        state = readState(item) ?? state;
        yield* isFirst ? [item] : toUpdates(item);
        isFirst = false;
      }
      sent = `${record.key} ${state}`;
      if (isTerminal(state)) return;
    }
    await pause(pollMs, signal).catch(() => undefined);
  }
}

async function* readCurrent(
  agent: DurableAgent,
  task: FoundTask,
  options: StreamTaskOptions,
): AsyncGenerator<A2AStreamItem> {
  yield { task: await readTaskWithItems(agent, task, options) };
}

function readState(item: A2AStreamItem): A2ATaskState | undefined {
  if ('task' in item) return item.task.status.state;
  return 'statusUpdate' in item ? item.statusUpdate.status.state : undefined;
}

/** The task is the first item of a stream only. Later its artifacts and its status are sent. */
function toUpdates(item: A2AStreamItem): A2AStreamItem[] {
  if (!('task' in item)) return [item];
  const { id: taskId, contextId, status, artifacts = [] } = item.task;
  return [
    ...artifacts.map((artifact) => ({ artifactUpdate: { taskId, contextId, artifact } })),
    { statusUpdate: { taskId, contextId, status } },
  ];
}
