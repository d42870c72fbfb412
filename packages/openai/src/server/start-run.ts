import {
  generateId,
  serveDurableRun,
  type DurableAgent,
  type JsonObject,
  type OnLoss,
  type RunRecord,
  type RunRequest,
  type ServedRun,
} from '@intertie/core';
import type { RunKey } from '@intertie/core/store';
import { asFields, asNonEmptyText, defined } from '@intertie/core/internal';
import { parseResponseId } from '../shared/response-object.ts';
import { findBranch, getBranchKey, importTurns } from './find-branch.ts';
import { OpenAIRequestError } from './openai-error.ts';
import { listOpenCalls, readAnswers } from './read-answers.ts';
import { readTools, toPlainText, type Conversation, type Output, type Turn } from './read-input.ts';
import { toRunContext } from './stored-request.ts';

/** Request of either API, with its conversation. */
export type StartOptions = {
  body: JsonObject;
  conversation: Conversation;
  /** Whether the run leaves no thread in lists, unless the client continues it. */
  isEphemeral: boolean;
  by: string;
  idempotencyKey?: string | undefined;
  onLoss?: OnLoss | undefined;
};

/** Place in the store that a request continues. A conversation without a parent continues at its head. */
type Place = { threadId: string; parentId?: string | null; isHidden?: true };
type NewRun = RunRequest & { threadId: string };

/**
 * Starts or continues the run that a request asks for. With `previous_response_id` or `conversation`, the input has only new items.
 * Without an id, it has the whole history, whose branch is searched in the store.
 */
export async function startRun(agent: DurableAgent, options: StartOptions): Promise<ServedRun> {
  const { body, conversation } = options;
  const { previous_response_id: previous, conversation: named } = body;
  const { turns } = conversation;
  if (isGiven(previous) && isGiven(named)) {
    const message = '`previous_response_id` and `conversation` cannot be used together.';
    throw new OpenAIRequestError(message, { param: 'conversation' });
  }
  if (isGiven(previous)) return continueAt(agent, await findPrevious(agent, previous), turns, options);
  if (isGiven(named)) {
    const threadId = asNonEmptyText(named) ?? asNonEmptyText(asFields(named).id);
    if (threadId === undefined) throw new OpenAIRequestError('`conversation` has no id.', { param: 'conversation' });
    return continueAt(agent, { threadId }, turns, options);
  }
  return startFromHistory(agent, turns, options);
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

async function findPrevious({ store }: DurableAgent, id: unknown): Promise<Place> {
  const run = parseResponseId(id)?.run;
  const record = run === undefined ? null : await store.registry.getRun(store.scope, run as RunKey);
  if (record === null) {
    const message = `Previous response with id '${String(id)}' not found.`;
    throw new OpenAIRequestError(message, { code: 'previous_response_not_found', param: 'previous_response_id' });
  }
  return { threadId: record.threadId, parentId: record.messageId };
}

/** Answers the calls of a thread, or starts a run after a known message. */
async function continueAt(
  agent: DurableAgent,
  place: Place,
  turns: readonly Turn[],
  options: StartOptions,
): Promise<ServedRun> {
  const outputs = turns.flatMap((turn) => turn.outputs);
  const user = turns.at(-1)?.user ?? [];
  const request = user.length === 0 ? undefined : await createRequest(agent, place, turns, options);
  if (outputs.length > 0) return answer(agent, { threadId: place.threadId, outputs, next: request, by: options.by });
  if (request === undefined) throw new OpenAIRequestError('`input` has no new message.', { param: 'input' });
  return serveStart(agent, request, options);
}

/** Finds the branch of a history without ids, or imports it. */
async function startFromHistory(
  agent: DurableAgent,
  turns: readonly Turn[],
  options: StartOptions,
): Promise<ServedRun> {
  const last = turns.at(-1);
  if (last === undefined) throw new OpenAIRequestError('The request has no message.', { param: 'input' });
  if (last.outputs.length > 0) {
    const run = await findBranch(agent, turns, { isAnswered: false });
    if (run === undefined) throw unknownCalls(last.outputs);
    return answer(agent, { threadId: run.threadId, outputs: last.outputs, by: options.by });
  }
  if (last.user.length === 0 || last.assistant.length > 0) {
    throw new OpenAIRequestError('The last message must be from the user.', { param: 'input' });
  }
  const place = await findPlace(agent, turns.slice(0, -1), options);
  const request = await createRequest(agent, place, turns, options);
  const served = await serveStart(agent, request, options);
  // A hidden thread that is continued is a conversation after all.
  if (turns.length > 1 && !options.isEphemeral) await showThread(agent, place.threadId);
  return served;
}

async function findPlace(agent: DurableAgent, before: readonly Turn[], { isEphemeral }: StartOptions): Promise<Place> {
  if (before.length === 0) return { threadId: generateId(), parentId: null, ...(isEphemeral && { isHidden: true }) };
  const run = await findBranch(agent, before, { isAnswered: true });
  return run
    ? { threadId: run.threadId, parentId: run.messageId }
    : importTurns(agent, before, { isHidden: isEphemeral });
}

async function showThread({ store }: DurableAgent, threadId: string): Promise<void> {
  const thread = await store.getThreadById({ threadId });
  if (thread?.hidden) await store.saveThread({ thread: { id: threadId, hidden: false } });
}

async function createRequest(
  agent: DurableAgent,
  { threadId, parentId, isHidden }: Place,
  turns: readonly Turn[],
  { body, conversation, idempotencyKey, onLoss, by }: StartOptions,
): Promise<NewRun> {
  const tools = readTools(body.tools, onLoss);
  const { instructions } = conversation;
  const parts = turns.at(-1)!.user;
  return {
    threadId,
    message: { content: { format: 2, parts } },
    branchKey: await getBranchKey(
      parentId === null ? turns : await withStoredTurns(agent, { threadId, parentId }, turns),
    ),
    ...toRunContext(body, { instructions, tools }),
    ...(isHidden && { hidden: true }),
    ...defined({ parentId, idempotencyKey, by }),
  };
}

/** Completes turns that a client sent without their history, so that their run can be found by either way. */
async function withStoredTurns(
  { store }: DurableAgent,
  { threadId, parentId }: Place,
  turns: readonly Turn[],
): Promise<Turn[]> {
  if (turns.length > 1 && turns[0]!.user.length > 0) return [...turns];
  const known = (await store.getThreadById({ threadId })) !== null;
  const leaf = parentId ? { leafId: parentId } : {};
  const messages = known ? await store.listMessages({ threadId, ...leaf }) : [];
  const stored = messages.filter(({ role }) => role === 'user').map(({ content }) => toTurn(content.parts));
  return [...stored, turns.at(-1)!];
}

function toTurn(user: Turn['user']): Turn {
  return { user: [{ type: 'text', text: toPlainText(user) }], assistant: [], outputs: [], hasCalls: false };
}

function serveStart(agent: DurableAgent, request: NewRun, { by }: StartOptions): Promise<ServedRun> {
  return serveDurableRun(agent, { type: 'start', request }, { busy: 'queue', by });
}

/** Answers calls of a thread. A client that repeats an answer gets the run of the first one. */
async function answer(
  agent: DurableAgent,
  {
    threadId,
    outputs,
    next,
    by,
  }: { threadId: string; outputs: readonly Output[]; next?: NewRun | undefined; by: string },
): Promise<ServedRun> {
  const { registry, scope } = agent.store;
  let answers = readAnswers(outputs, await registry.listDecisions(scope, { threadId, state: 'open' }));
  if (answers.size === 0) answers = readAnswers(outputs, await registry.listDecisions(scope, { threadId }));
  if (answers.size === 0) throw unknownCalls(outputs);
  const served = await serveDurableRun(agent, { type: 'answer', threadId, answers, next }, { by, conflict: 'join' });
  if (served.type === 'run') return served;
  const missing = listOpenCalls(served.open).join(', ');
  throw new OpenAIRequestError(`No tool output found for function call ${missing}.`, { param: 'input' });
}

function unknownCalls(outputs: readonly Output[]): OpenAIRequestError {
  const ids = outputs.map((output) => (output.type === 'output' ? output.callId : output.id)).join(', ');
  return new OpenAIRequestError(`No tool call found for function call output with call_id ${ids}.`, { param: 'input' });
}

/** Finds the run of a response id in the scope of the agent. */
export async function findRecord(
  { store }: DurableAgent,
  id: string,
): Promise<{ record: RunRecord; from: number } | null> {
  const parsed = parseResponseId(id);
  const record = parsed && (await store.registry.getRun(store.scope, parsed.run as RunKey));
  return record ? { record, from: parsed.from } : null;
}
