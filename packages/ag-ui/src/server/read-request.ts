import type { Message, ResumeEntry } from '@ag-ui/core';
import type { Answer, MessagePart, OnLoss } from '@intertie/core';
import type { AnswersByRun } from '@intertie/core/internal';
import type { Decision, NewMessage, ToolAnswer } from '@intertie/core/store';
import type { AGUIRunInput } from '../shared/ag-ui-event.ts';
import { readContent } from '../shared/content-part.ts';
import { decodeInterruptId, decodeResume } from '../shared/interrupt.ts';
import { readToolMessage } from '../messages/read-tool-message.ts';
import type { StoredBranch } from './stored-branch.ts';

/** New input of a request that is not in the stored thread: a user message, or the wish for another answer to one. */
export type RequestedRun = {
  /** New user message and the id of its parent. Without a parent, it follows the head of the thread. */
  message?: { message: NewMessage; parentId?: string };
  /** Id of a stored user message that gets another answer. */
  regenerate?: string;
};

const nonAnswerRoles: ReadonlySet<string> = new Set(['user', 'system', 'developer', 'activity']);

/** Finds the part of a request that is not stored yet. Consecutive new user messages are merged, because a run answers one. */
export function readRequest({ messages }: AGUIRunInput, branch: StoredBranch, onLoss: OnLoss): RequestedRun {
  const lastKnown = messages.findLastIndex((message) => branch.has(message));
  const lastAnswer = messages.findLastIndex(({ role }) => !nonAnswerRoles.has(role));
  const newMessages = messages.slice(Math.max(lastKnown, lastAnswer) + 1).filter(({ role }) => role === 'user');
  const last = newMessages.at(-1);
  const known = messages[lastKnown];
  if (last === undefined) {
    const unanswered = known?.role === 'user' && lastKnown > lastAnswer ? branch.find(known) : undefined;
    return unanswered ? { regenerate: unanswered.id } : {};
  }
  const parts: MessagePart[] = newMessages.flatMap((message) => readContent(message.content, message.id, onLoss));
  const parent = known && branch.findLeaf(known);
  const message: NewMessage = { id: last.id, content: { format: 2, parts } };
  return { message: { message, ...(parent && { parentId: parent.id }) } };
}

/**
 * Reads the answers of a request to the given decisions: resolved interrupts, and results of client tools after the last known
 * user message. Older results are ignored, because call ids may repeat.
 */
export function readAnswers(
  { messages, resume = [] }: Pick<AGUIRunInput, 'messages' | 'resume'>,
  branch: StoredBranch,
  decisions: readonly Decision[],
  onLoss: OnLoss,
): AnswersByRun {
  const answers = new Map<string, Array<Answer | ToolAnswer>>();
  const addAnswer = ({ runId }: Decision, answer: Answer | ToolAnswer): void => {
    answers.set(runId, [...(answers.get(runId) ?? []), answer]);
  };
  const decisionsById = new Map(decisions.map((decision) => [decision.id, decision]));
  for (const entry of resume) {
    const decision = findDecision(entry, decisionsById);
    if (decision && 'question' in decision) addAnswer(decision, decodeResume(entry, decision.question));
  }
  const lastUserIndex = messages.findLastIndex((message) => message.role === 'user' && branch.has(message));
  const results = collectToolMessages(messages.slice(lastUserIndex + 1));
  for (const decision of decisions) {
    const message = decision.kind === 'client-tool' ? results.get(decision.toolCallId) : undefined;
    const result = message && readToolMessage(message, message.id, onLoss);
    if (result && decision.toolCallId !== undefined)
      addAnswer(decision, { toolCallId: decision.toolCallId, ...result });
  }
  return answers;
}

type ToolMessage = Extract<Message, { role: 'tool' }>;

function collectToolMessages(messages: readonly Message[]): Map<string, ToolMessage> {
  return new Map(
    messages.flatMap((message) => (message.role === 'tool' ? [[message.toolCallId, message] as const] : [])),
  );
}

function findDecision({ interruptId }: ResumeEntry, decisions: ReadonlyMap<string, Decision>): Decision | undefined {
  return decisions.get(decodeInterruptId(interruptId).questionId) ?? decisions.get(interruptId);
}
