import type { CanonicalMessage, OnLoss, RunInput } from '@intertie/core';
import { guessWaitingFor, readWaitingFor, takeAnswers } from './chat-answers.ts';
import type { ChatMemory } from './chat-memory.ts';
import { ChatRequestError, type ChatRequest } from './chat-request.ts';
import { fromUIMessages } from '../../messages/from-ui-messages.ts';
import { defined } from '../../shared/read-fields.ts';

export interface ChatTurnOptions {
  memory: ChatMemory;
  generateId: () => string;
  now: () => number;
  onLoss: OnLoss;
}

/**
 * The run that a chat asks for, where nobody but the chat has the history. A user's message last: a new answer, also after
 * an edit and for a regeneration. An assistant's message last: that message goes on, with what the page has answered.
 */
export function toRunInput(request: ChatRequest, options: ChatTurnOptions): RunInput {
  const { generateId, now, onLoss, memory } = options;
  const { sent, continues } = turnOf(request);
  const startedAt = now();
  const messages = fromUIMessages(sent, { threadId: request.chatId, createdAt: new Date(startedAt), onLoss });
  const run: RunInput = {
    runId: generateId(),
    threadId: request.chatId,
    messageId: '',
    startedAt,
    history: messages,
    answers: [],
    tools: [],
    context: [],
  };
  if (!continues) {
    const parent = messages.at(-1) as CanonicalMessage;
    const answered = messages.findLast(({ role }) => role === 'assistant');
    const parentMessageId = parent.id;
    return { ...run, ...memory.recall(answered?.runId), messageId: generateId(), parentMessageId };
  }
  const { id: messageId, content, runId, parentId: parentMessageId } = messages.pop() as CanonicalMessage;
  const shown = sent.at(-1) as ChatRequest['messages'][number];
  const { message, answers } = takeAnswers(content, readWaitingFor(shown) ?? guessWaitingFor(shown, content));
  return {
    ...run,
    ...memory.recall(runId),
    messageId,
    ...defined({ parentMessageId }),
    // A message of somebody else's names no run; it stands for the one that wrote it.
    resumes: runId ?? messageId,
    message,
    answers,
  };
}

type Turn = { sent: ChatRequest['messages']; continues: boolean };

/** The messages up to the one that matters, and whether that one goes on. */
function turnOf({ trigger, messages, messageId }: ChatRequest): Turn {
  const named = messageId === undefined ? -1 : messages.findIndex(({ id }) => id === messageId);
  const place = named === -1 ? messages.length - 1 : named;
  const isAssistant = messages[place]?.role === 'assistant';
  // A chat cuts off what it makes anew before it asks; others name it.
  const isReplaced = trigger === 'regenerate-message' && named !== -1 && isAssistant;
  const sent = messages.slice(0, isReplaced ? place : place + 1);
  if (sent.length === 0) throw new ChatRequestError('No message is before the one to regenerate, so nothing is asked.');
  return { sent, continues: trigger === 'submit-message' && isAssistant };
}
