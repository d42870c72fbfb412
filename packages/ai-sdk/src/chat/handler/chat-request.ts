import { checkMessageCounts, checkRequestId, type RequestLimits } from '@intertie/core/http';
import { isFields, asNonEmptyText, type Fields } from '../../shared/read-fields.ts';

/** Request of a chat, as `DefaultChatTransport` posts it and as a transport is called. Its shape is checked; its content is untrusted. */
export interface ChatRequest {
  /** The thread. */
  chatId: string;
  trigger: 'submit-message' | 'regenerate-message';
  messages: readonly Fields[];
  /** The message to edit, continue or regenerate. */
  messageId?: string;
}

/** A request that is refused with status 400. Its message is written for the client. */
export class ChatRequestError extends Error {
  override readonly name = 'ChatRequestError';
}

const roles: ReadonlySet<unknown> = new Set(['user', 'assistant', 'system']);

export interface ReadChatRequestOptions {
  /** Id of a chat that does not send its own. */
  generateId: () => string;
  limits?: Partial<RequestLimits> | undefined;
}

/** Checks the shape of a request. The parts of its messages are read later, and never trusted. */
export function readChatRequest(value: unknown, { generateId, limits }: ReadChatRequestOptions): ChatRequest {
  if (!isFields(value)) throw new ChatRequestError('The body is not a JSON object. Send { id, messages, trigger }.');
  const { id, messages, messageId } = value;
  const trigger = value.trigger ?? 'submit-message';
  if (id !== undefined && asNonEmptyText(id) === undefined)
    throw new ChatRequestError('"id" of the chat is not a non-empty string.');
  if (trigger !== 'submit-message' && trigger !== 'regenerate-message') {
    throw new ChatRequestError(`"trigger" is "submit-message" or "regenerate-message", not ${shown(trigger)}.`);
  }
  if (messageId !== undefined && messageId !== null && asNonEmptyText(messageId) === undefined) {
    throw new ChatRequestError('"messageId" is not a non-empty string.');
  }
  if (!Array.isArray(messages))
    throw new ChatRequestError('"messages" is not an array. Send the UI messages of the chat.');
  if (messages.length === 0) throw new ChatRequestError('"messages" is empty, so there is nothing to answer.');
  checkMessageCounts(messages, countParts, limits);
  const chatId = asNonEmptyText(id) ?? generateId();
  const named = asNonEmptyText(messageId);
  checkRequestId('"id"', chatId);
  if (named !== undefined) checkRequestId('"messageId"', named);
  return { chatId, trigger, messages: messages.map(checkMessage), ...(named !== undefined && { messageId: named }) };
}

function checkMessage(message: unknown, index: number): Fields {
  const place = `messages[${index}]`;
  if (!isFields(message)) throw new ChatRequestError(`${place} is not an object.`);
  if (asNonEmptyText(message.id) === undefined) throw new ChatRequestError(`${place}.id is not a non-empty string.`);
  checkRequestId(`${place}.id`, message.id as string);
  if (!roles.has(message.role)) {
    throw new ChatRequestError(`${place}.role is "user", "assistant" or "system", not ${shown(message.role)}.`);
  }
  if (!Array.isArray(message.parts)) {
    const hint = 'content' in message ? ' Model messages have "content"; a chat sends UI messages.' : '';
    throw new ChatRequestError(`${place}.parts is not an array.${hint}`);
  }
  return message;
}

function countParts(message: unknown): number {
  return isFields(message) && Array.isArray(message.parts) ? message.parts.length : 0;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
