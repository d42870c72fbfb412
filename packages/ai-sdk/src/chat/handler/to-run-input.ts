import type { CanonicalMessage, OnLoss, RunInput } from '@intertie/core';
import { extractAnswers, guessWaitingFor, readWaitingFor } from './chat-answers.ts';
import type { ChatMemory } from './chat-memory.ts';
import { ChatRequestError, type ChatRequest } from './chat-request.ts';
import { fromUIMessages } from '../../messages/from-ui-messages.ts';
import { defined } from '../../shared/read-fields.ts';

/** Input that an application adds to a run. The ids and the history come from the chat. */
export type PreparedRun = Partial<Pick<RunInput, 'tools' | 'context' | 'state' | 'forwardedProps' | 'sourceState'>>;

/** Hook that is called before every run. Its errors are passed to the chat. */
export type PrepareRun<Context> = (
  run: RunInput,
  context: Context,
) => PreparedRun | undefined | Promise<PreparedRun | undefined>;

export interface ToRunInputOptions {
  memory: ChatMemory;
  generateId: () => string;
  now: () => number;
  onLoss: OnLoss;
}

/**
 * Builds the input of a run from a request whose chat holds the history. If the last message is a user's, the run writes a
 * new message, also after an edit or for a regeneration. If it is an assistant's, the run continues it with its new answers.
 */
export function toRunInput(request: ChatRequest, options: ToRunInputOptions): RunInput {
  const { generateId, now, onLoss, memory } = options;
  const { selected, isContinuation } = selectMessages(request);
  const startedAt = now();
  const messages = fromUIMessages(selected, { threadId: request.chatId, createdAt: new Date(startedAt), onLoss });
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
  if (!isContinuation) {
    const parent = messages.at(-1) as CanonicalMessage;
    const previous = messages.findLast(({ role }) => role === 'assistant');
    const parentMessageId = parent.id;
    return { ...run, ...memory.recall(previous?.runId), messageId: generateId(), parentMessageId };
  }
  const { id: messageId, content, runId, parentId: parentMessageId } = messages.pop() as CanonicalMessage;
  const uiMessage = selected.at(-1) as ChatRequest['messages'][number];
  const waitingFor = readWaitingFor(uiMessage) ?? guessWaitingFor(uiMessage, content);
  const { message, answers } = extractAnswers(content, waitingFor);
  return {
    ...run,
    ...memory.recall(runId),
    messageId,
    ...defined({ parentMessageId }),
    // A message without our metadata names no run: its own id stands for the run that wrote it.
    resumes: runId ?? messageId,
    message,
    answers,
  };
}

/** Selects the messages up to the one that the request is about. */
function selectMessages({ trigger, messages, messageId }: ChatRequest): {
  selected: ChatRequest['messages'];
  isContinuation: boolean;
} {
  const named = messageId === undefined ? -1 : messages.findIndex(({ id }) => id === messageId);
  const index = named === -1 ? messages.length - 1 : named;
  const isAssistant = messages[index]?.role === 'assistant';
  // `useChat` removes the message to regenerate before it sends the request; other clients only name it.
  const isReplaced = trigger === 'regenerate-message' && named !== -1 && isAssistant;
  const selected = messages.slice(0, isReplaced ? index : index + 1);
  if (selected.length === 0) throw new ChatRequestError('The message to regenerate has no message before it.');
  return { selected, isContinuation: trigger === 'submit-message' && isAssistant };
}
