import type { CanonicalMessage, Json, JsonObject, RunInput, RunRecord, RunRequest, Store } from '@intertie/core';
import type { ToolDescription } from '@intertie/core/internal';
import type { Ownership } from '@intertie/core/store';
import type { AgentDefinition } from './agent-definition.ts';
import { withoutReasoning } from '../history/history-options.ts';
import { readBranch } from '../history/read-branch.ts';
import { captureTrace } from '../telemetry/run-telemetry.ts';
import { FileResolver } from '../history/file-resolver.ts';

export type PreparedRun = {
  input: RunInput;
  /** The message that the run writes, as it is stored. */
  message: CanonicalMessage;
};

/** Returns the request without its messages, as it is stored with the run: another process can start the run from it. */
export function toStoredInput({ tools, context, state, forwardedProps }: RunRequest): JsonObject {
  const trace = captureTrace();
  return {
    ...(Object.keys(trace).length > 0 && { trace }),
    ...(tools && tools.length > 0 && { tools }),
    ...(context && context.length > 0 && { context }),
    ...(state !== undefined && { state }),
    ...(forwardedProps !== undefined && { forwardedProps }),
  };
}

/** Returns the stored input for a continuation. The state is part of the message by then. */
export function toContinuationInput({ input }: RunRecord): JsonObject {
  const { state: _, ...rest } = parseInput(input);
  return rest;
}

/** Returns the trace context of the request that started the run. */
export function getTrace({ input }: RunRecord): Json | undefined {
  return parseInput(input).trace;
}

/** Builds the input of the source. The history is read from the store along the branch, never from the client. */
export async function prepareRun(
  store: Store,
  { run, messages }: Pick<Ownership, 'run' | 'messages'>,
  definition: AgentDefinition,
): Promise<PreparedRun> {
  const { threadId, messageId } = run;
  const { history, retainReasoning, onLoss } = definition;
  const [{ message, before: branch }, resumed] = await Promise.all([
    readBranch(store, { threadId, messageId, ...(messages && { known: messages }) }, history),
    run.resumes ? store.registry.getRun(run.scope, run.resumes) : null,
  ]);
  const { parentId } = message;
  const files = new FileResolver(store.blobs, run.scope, onLoss);
  const stored = parseInput(run.input);
  const last = resumed ? message : branch.findLast(({ role }) => role === 'assistant');
  const state = stored.state ?? last?.state;
  const sourceState = resumed ? message.sourceState : await getSourceState(store, branch, message, last);
  const input: RunInput = {
    runId: run.runId,
    threadId,
    messageId,
    ...(parentId !== undefined && { parentMessageId: parentId }),
    ...(resumed && { resumes: resumed.runId, message: await files.resolveContent(message.content) }),
    principal: run.scope,
    startedAt: (run.startedAt ?? run.createdAt).getTime(),
    history: await files.resolveMessages(branch.map((earlier) => withoutReasoning(earlier, retainReasoning))),
    answers: [],
    tools: (stored.tools ?? []) as unknown as ToolDescription[],
    context: (stored.context ?? []) as RunInput['context'],
    ...(state !== undefined && { state }),
    ...(stored.forwardedProps !== undefined && { forwardedProps: stored.forwardedProps }),
    ...(sourceState !== undefined && { sourceState }),
  };
  return { input, message };
}

/**
 * Returns the runtime's session state of the last answer. If another branch has continued from that answer, the remote
 * session has moved on, so the run begins a new session with the transcript.
 */
async function getSourceState(
  store: Store,
  branch: readonly CanonicalMessage[],
  message: CanonicalMessage,
  last: CanonicalMessage | undefined,
): Promise<Json | undefined> {
  if (last?.sourceState === undefined) return undefined;
  const { threadId } = message;
  const after = [...branch.slice(branch.indexOf(last) + 1), message];
  const siblings = await Promise.all(after.map(({ id: messageId }) => store.listSiblings({ threadId, messageId })));
  return siblings.every(({ length }) => length <= 1) ? last.sourceState : undefined;
}

type StoredInput = { tools?: Json; context?: Json; state?: Json; forwardedProps?: Json; trace?: Json };

function parseInput(input: Json | undefined): StoredInput {
  return typeof input === 'object' && input !== null && !Array.isArray(input) ? input : {};
}
