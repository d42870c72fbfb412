import type { Message, ResumeEntry } from '@ag-ui/core';
import type { Answer, MessagePart, OnLoss } from '@intertie/core';
import type { Decision, NewMessage, ToolAnswer } from '@intertie/core/store';
import type { AGUIRunInput } from '../shared/ag-ui-event.ts';
import { readContent } from '../shared/content-part.ts';
import { decodeInterruptId, decodeResume } from '../shared/interrupt.ts';
import { readToolMessage } from '../messages/read-tool-message.ts';
import type { StoredBranch } from './stored-branch.ts';

/** What a client asks for that the store does not know yet. The rest of what it sends is the store's to say. */
export type AGUITurn = {
  /** What the user has said now, and the message that it follows (the thread's head, where the client knows none). */
  message?: { message: NewMessage; parentId?: string };
  /** A message of the user's that is to be answered again. */
  again?: string;
};

const words: ReadonlySet<string> = new Set(['user', 'system', 'developer', 'activity']);

/** Several messages of the user's in a row are one: a run answers one. */
export function readTurn({ messages }: AGUIRunInput, branch: StoredBranch, onLoss: OnLoss): AGUITurn {
  const lastKnown = messages.findLastIndex((message) => branch.has(message));
  const answered = messages.findLastIndex(({ role }) => !words.has(role));
  const fresh = messages.slice(Math.max(lastKnown, answered) + 1).filter(({ role }) => role === 'user');
  const last = fresh.at(-1);
  const known = messages[lastKnown];
  if (last === undefined) {
    const asked = known?.role === 'user' && lastKnown > answered ? branch.find(known) : undefined;
    return asked ? { again: asked.id } : {};
  }
  const parts: MessagePart[] = fresh.flatMap((message) => readContent(message.content, message.id, onLoss));
  const parent = known && branch.meant(known);
  const message: NewMessage = { id: last.id, content: { format: 2, parts } };
  return { message: { message, ...(parent && { parentId: parent.id }) } };
}

export type GivenAnswers = Map<string, Array<Answer | ToolAnswer>>;

/**
 * What a client answers to these decisions, by the run that waits for it: the interrupts that it resolves, and the results
 * of its tools since the user's last message (older ones may have the id of a call that is made now).
 */
export function readAnswers(
  { messages, resume = [] }: Pick<AGUIRunInput, 'messages' | 'resume'>,
  branch: StoredBranch,
  decisions: readonly Decision[],
  onLoss: OnLoss,
): GivenAnswers {
  const given: GivenAnswers = new Map();
  const give = ({ runId }: Decision, answer: Answer | ToolAnswer): void => {
    given.set(runId, [...(given.get(runId) ?? []), answer]);
  };
  const asked = new Map(decisions.map((decision) => [decision.id, decision]));
  for (const entry of resume) {
    const decision = decisionOf(entry, asked);
    if (decision && 'question' in decision) give(decision, decodeResume(entry, decision.question));
  }
  const lastSaid = messages.findLastIndex((message) => message.role === 'user' && branch.has(message));
  const results = resultsIn(messages.slice(lastSaid + 1));
  for (const decision of decisions) {
    const message = decision.kind === 'client-tool' ? results.get(decision.toolCallId) : undefined;
    const result = message && readToolMessage(message, message.id, onLoss);
    if (result && decision.toolCallId !== undefined) give(decision, { toolCallId: decision.toolCallId, ...result });
  }
  return given;
}

type ToolMessage = Extract<Message, { role: 'tool' }>;

function resultsIn(messages: readonly Message[]): Map<string, ToolMessage> {
  return new Map(
    messages.flatMap((message) => (message.role === 'tool' ? [[message.toolCallId, message] as const] : [])),
  );
}

function decisionOf({ interruptId }: ResumeEntry, asked: ReadonlyMap<string, Decision>): Decision | undefined {
  return asked.get(decodeInterruptId(interruptId).questionId) ?? asked.get(interruptId);
}
