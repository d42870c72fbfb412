import type { AgentEvent, CanonicalMessage, MessageContent, MessagePart, Store } from '@intertie/core';
import type {
  DecisionRequest,
  FinishRequest,
  MessageInput,
  Ownership,
  Queued,
  Started,
  StartRequest,
} from '@intertie/core/store';
import { expect } from 'vitest';

export const createdAt: Date = new Date('2024-03-01T10:00:00.123Z');

export function content(...parts: MessagePart[]): MessageContent {
  return { format: 2, parts };
}

export function message(id: string, rest: Partial<MessageInput> = {}): MessageInput {
  const body = content({ type: 'text', text: `I am ${id}.` });
  return { id, threadId: 'thread_1', role: 'user', type: 'text', createdAt, content: body, ...rest };
}

export function toIds(messages: readonly CanonicalMessage[]): string[] {
  return messages.map(({ id }) => id);
}

export async function listBranchIds(store: Store, leafId?: string): Promise<string[]> {
  return toIds(await store.listMessages({ threadId: 'thread_1', ...(leafId !== undefined && { leafId }) }));
}

/** A request for run `run_<name>` in process `p1`, with the user message `u_<name>` and the answer `a_<name>`. */
export function request(name: string, rest: Partial<StartRequest> = {}): StartRequest {
  return {
    threadId: 'thread_1',
    runId: `run_${name}`,
    agent: 'helper',
    process: 'p1',
    message: message(`u_${name}`),
    messageId: `a_${name}`,
    busy: 'reject',
    pending: 'supersede',
    ...rest,
  };
}

/** Starts a run in process `p1`, which has a valid lease. */
export async function start(store: Store, name: string, rest: Partial<StartRequest> = {}): Promise<Started> {
  await store.registry.heartbeat('p1');
  const result = await store.registry.start(store.scope, request(name, rest));
  expect(result.type).toBe('started');
  return result as Started;
}

export async function queue(store: Store, name: string, rest: Partial<StartRequest> = {}): Promise<Queued> {
  const result = await store.registry.start(store.scope, request(name, { busy: 'queue', ...rest }));
  expect(result.type).toBe('queued');
  return result as Queued;
}

function delta(text: string): AgentEvent {
  return { type: 'text-delta', id: 'p1', delta: text };
}

export function deltas(...texts: string[]): AgentEvent[] {
  return texts.map((text) => delta(text));
}

/** End of a run that has logged no events. */
export function ending(rest: Partial<FinishRequest> = {}): FinishRequest {
  const outcome = rest.outcome ?? { outcome: 'complete' };
  return { nextSeq: 1, events: [{ type: 'run-end', ...outcome }], outcome, content: content(), ...rest };
}

/** A question about a tool call, and the stored part of that call. */
export function approval(questionId: string, expiresAt?: Date): { decision: DecisionRequest; part: MessagePart } {
  const question = { questionId, kind: 'approval' as const, toolCallId: `call_${questionId}` };
  return {
    decision: {
      id: questionId,
      kind: 'approval',
      question,
      toolCallId: question.toolCallId,
      ...(expiresAt && { expiresAt }),
    },
    part: {
      type: 'tool-invocation',
      toolCallId: question.toolCallId,
      toolName: 'delete_file',
      state: 'call',
      args: { path: 'a.txt' },
      approval: question,
    },
  };
}

/** End of a run that waits for approvals. */
export function pausing(
  questionIds: readonly string[],
  rest: Partial<FinishRequest> = {},
  expiresAt?: Date,
): FinishRequest {
  const asked = questionIds.map((id) => approval(id, expiresAt));
  return ending({
    outcome: { outcome: 'paused', waitingFor: questionIds.map((questionId) => ({ type: 'question', questionId })) },
    content: content(...asked.map(({ part }) => part)),
    decisions: asked.map(({ decision }) => decision),
    ...rest,
  });
}

/** Starts a run and pauses it on these approvals. */
export async function paused(store: Store, name: string, ...questionIds: string[]): Promise<Started> {
  const started = await start(store, name);
  await finish(store, started, pausing(questionIds));
  return started;
}

/** Ends the run, then closes its log, which may be in another system. */
export async function finish(store: Store, { run, epoch }: Ownership, end: FinishRequest): Promise<CanonicalMessage> {
  const result = await store.registry.finish(run.key, epoch, end);
  expect(result.result).toBe('ok');
  await store.log.close(run.key, end.nextSeq + end.events.length - 1);
  return (result as Extract<typeof result, { result: 'ok' }>).message;
}

export async function getStatus(store: Store, messageId: string): Promise<CanonicalMessage['status']> {
  return (await store.getMessage({ threadId: 'thread_1', messageId }))?.status;
}
