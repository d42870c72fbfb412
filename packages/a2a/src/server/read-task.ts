import { TaskNotFoundError } from '@a2a-js/sdk/errors';
import {
  MessageList,
  serveDurableRun,
  type CanonicalMessage,
  type DurableAgent,
  type RunRecord,
  type ServedRun,
} from '@intertie/core';
import { toPublicMessage } from '@intertie/core/http';
import { defined, resolveFileUrls } from '@intertie/core/internal';
import type { Decision, LatestRunState, Waiting } from '@intertie/core/store';
import { OpenInputs } from '../encode/open-inputs.ts';
import { toArtifacts, toFilePart } from '../encode/to-artifacts.ts';
import type { A2AMessage, A2APart, A2ATask, A2ATaskState } from '../shared/a2a-types.ts';
import type { A2AHandlerOptions } from './a2a-handler-options.ts';

/** A task: the last run of its message, and the decisions that it waits for. */
export type FoundTask = { record: RunRecord; open: Decision[]; state: A2ATaskState };

const runStates: { readonly [State in LatestRunState]: A2ATaskState } = {
  queued: 'TASK_STATE_SUBMITTED',
  running: 'TASK_STATE_WORKING',
  waiting: 'TASK_STATE_INPUT_REQUIRED',
  complete: 'TASK_STATE_COMPLETED',
  error: 'TASK_STATE_FAILED',
  aborted: 'TASK_STATE_CANCELED',
  paused: 'TASK_STATE_CANCELED',
};

/** Returns the states of runs whose tasks have a state. */
export function toRunStates(state: A2ATaskState): LatestRunState[] {
  return (Object.keys(runStates) as LatestRunState[]).filter((name) => runStates[name] === state);
}

/** Finds a task of the agent. Rejects with the error of the specification. */
export async function findTask(agent: DurableAgent, taskId: string): Promise<FoundTask> {
  const { registry, scope } = agent.store;
  const runs = taskId === '' ? [] : await registry.listRuns(scope, { messageId: taskId });
  const record = runs.findLast((run) => run.agent === agent.name);
  if (!record) throw new TaskNotFoundError(`Task not found: ${taskId}`);
  return describeTask(agent, record);
}

export async function describeTask(agent: DurableAgent, record: RunRecord): Promise<FoundTask> {
  const { registry, scope } = agent.store;
  const mayWait = record.state === 'paused' || record.waiting === true;
  const open = mayWait ? await registry.listDecisions(scope, { run: record.key, state: 'open' }) : [];
  return { record, open, state: toTaskState(record, open) };
}

function toTaskState({ state, outcome }: RunRecord, open: readonly Decision[]): A2ATaskState {
  if (open.length > 0) return 'TASK_STATE_INPUT_REQUIRED';
  // The run waits for the next message, which is a task of its own.
  const waitsForMessage = outcome?.outcome === 'paused' && outcome.waitingFor.every(({ type }) => type === 'message');
  return waitsForMessage ? 'TASK_STATE_COMPLETED' : runStates[state];
}

export type ReadTaskOptions = Pick<A2AHandlerOptions, 'errorText' | 'fileUrl'> & {
  historyLength?: number | undefined;
  hasArtifacts?: boolean;
};

/** Reads the current state of a task: the stored message, or the fold of the log while a run writes it. */
export async function readTask(agent: DurableAgent, task: FoundTask, options: ReadTaskOptions = {}): Promise<A2ATask> {
  const { record, open, state } = task;
  const { messageId: id, threadId: contextId } = record;
  const { errorText, fileUrl, historyLength, hasArtifacts = true } = options;
  const isLive = record.state === 'running';
  const stored = (isLive ? await foldLog(agent, record) : undefined) ?? (await readMessage(agent, contextId, id));
  const [resolved] = await resolveFileUrls(stored ? [stored] : [], agent.store, fileUrl);
  const message = resolved && toPublicMessage(resolved, defined({ errorText }));
  const artifacts = message && hasArtifacts ? toArtifacts(message.content) : [];
  const history = historyLength === 0 ? [] : await readHistory(agent, stored, options);
  const text = toStatusParts(message, state, open);
  const timestamp = (record.endedAt ?? record.startedAt ?? record.createdAt).toISOString();
  const statusMessage: A2AMessage | undefined = text && {
    messageId: `${id}:${state === 'TASK_STATE_FAILED' ? 'error' : 'input'}`,
    taskId: id,
    contextId,
    role: 'ROLE_AGENT',
    parts: text,
  };
  return {
    id,
    contextId,
    status: { state, timestamp, ...(statusMessage && { message: statusMessage }) },
    ...(artifacts.length > 0 && { artifacts }),
    ...(history.length > 0 && { history }),
  };
}

function toStatusParts(
  message: CanonicalMessage | undefined,
  state: A2ATaskState,
  open: readonly Decision[],
): A2APart[] | undefined {
  if (state === 'TASK_STATE_FAILED') {
    const run = message?.content.runs?.at(-1);
    return run?.outcome === 'error' ? [{ text: run.error.message }] : undefined;
  }
  if (state !== 'TASK_STATE_INPUT_REQUIRED') return undefined;
  const inputs = new OpenInputs();
  if (message) inputs.observeContent(message.content);
  return inputs.toParts(open.map(toWaiting));
}

function toWaiting(decision: Decision): Waiting {
  if (decision.kind === 'client-tool') return { type: 'tool', toolCallId: decision.toolCallId };
  return { type: 'question', questionId: decision.id };
}

/** Joins the run of a task. */
export async function joinTask(agent: DurableAgent, { threadId, runId }: RunRecord): Promise<ServedRun | null> {
  return serveDurableRun(agent, { type: 'join', threadId, runId });
}

async function foldLog(agent: DurableAgent, record: RunRecord): Promise<CanonicalMessage | undefined> {
  const served = await joinTask(agent, record);
  const caught = await served?.catchUp();
  if (!caught || caught.events.length === 0) return undefined;
  const list = new MessageList();
  for (const event of caught.events) list.feed(event);
  const stored = await readMessage(agent, record.threadId, record.messageId);
  return list.message && { ...list.message, ...(stored?.parentId !== undefined && { parentId: stored.parentId }) };
}

async function readMessage(
  { store }: DurableAgent,
  threadId: string,
  messageId: string,
): Promise<CanonicalMessage | undefined> {
  return (await store.getMessage({ threadId, messageId })) ?? undefined;
}

/** Reads the message that the task answers. */
async function readHistory(
  agent: DurableAgent,
  message: CanonicalMessage | undefined,
  { fileUrl }: ReadTaskOptions,
): Promise<A2AMessage[]> {
  if (message?.parentId === undefined) return [];
  const prompt = await readMessage(agent, message.threadId, message.parentId);
  const [resolved] = await resolveFileUrls(prompt ? [prompt] : [], agent.store, fileUrl);
  return resolved?.role === 'user' ? [toUserMessage(resolved, message.id)] : [];
}

function toUserMessage({ id, clientId = id, threadId, content }: CanonicalMessage, taskId: string): A2AMessage {
  const parts = content.parts.flatMap((part): A2APart[] => {
    if (part.type === 'text') return [{ text: part.text }];
    const file = part.type === 'file' ? toFilePart(part) : undefined;
    return file ? [file] : [];
  });
  return { messageId: clientId, contextId: threadId, taskId, role: 'ROLE_USER', parts };
}
