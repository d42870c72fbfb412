import type { CanonicalMessage, Json, JsonObject, RunInput, RunRecord, RunRequest, Store } from '@intertie/core';
import type { ToolDescription } from '@intertie/core/internal';
import type { Ownership } from '@intertie/core/store';
import type { AgentDefinition } from './agent-definition.ts';
import { withoutReasoning } from '../history/history-options.ts';
import { readBranch } from '../history/read-branch.ts';
import { activeTrace } from '../telemetry/run-telemetry.ts';
import { FileResolver } from '../history/resolve-files.ts';

export type PreparedRun = {
  input: RunInput;
  /** The message that the run writes, as it is stored. */
  message: CanonicalMessage;
};

/** What a run is asked beside its messages, kept with it: enough to start it in another process. */
export function keepInput({ tools, context, state, forwardedProps }: RunRequest): JsonObject {
  const trace = activeTrace();
  return {
    ...(Object.keys(trace).length > 0 && { trace }),
    ...(tools && tools.length > 0 && { tools }),
    ...(context && context.length > 0 && { context }),
    ...(state !== undefined && { state }),
    ...(forwardedProps !== undefined && { forwardedProps }),
  };
}

/** Of the run that goes on with its message. The state is in the message by now. */
export function continuedInput({ input }: RunRecord): JsonObject {
  const { state: _, ...rest } = readInput(input);
  return rest;
}

/** The trace that the run was asked for in. */
export function traceOf({ input }: RunRecord): Json | undefined {
  return readInput(input).trace;
}

/** What the source is given. The history is the store's, along the branch; nothing in it comes from the client. */
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
  const kept = readInput(run.input);
  const last = resumed ? message : branch.findLast(({ role }) => role === 'assistant');
  const state = kept.state ?? last?.state;
  const sourceState = resumed ? message.sourceState : await tokenOf(store, branch, message, last);
  const input: RunInput = {
    runId: run.runId,
    threadId,
    messageId,
    ...(parentId !== undefined && { parentMessageId: parentId }),
    ...(resumed && { resumes: resumed.runId, message: await files.content(message.content) }),
    startedAt: (run.startedAt ?? run.createdAt).getTime(),
    history: await files.messages(branch.map((earlier) => withoutReasoning(earlier, retainReasoning))),
    answers: [],
    tools: (kept.tools ?? []) as unknown as ToolDescription[],
    context: (kept.context ?? []) as RunInput['context'],
    ...(state !== undefined && { state }),
    ...(kept.forwardedProps !== undefined && { forwardedProps: kept.forwardedProps }),
    ...(sourceState !== undefined && { sourceState }),
  };
  return { input, message };
}

/**
 * The runtime's own token, if it still fits: where another branch has gone on from the same answer, the remote session is
 * elsewhere by now, and the run begins a new one with the transcript.
 */
async function tokenOf(
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

type KeptInput = { tools?: Json; context?: Json; state?: Json; forwardedProps?: Json; trace?: Json };

function readInput(input: Json | undefined): KeptInput {
  return typeof input === 'object' && input !== null && !Array.isArray(input) ? input : {};
}
