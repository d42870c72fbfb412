import { checkMessageCounts, checkRequestId, type RequestLimits } from '@intertie/core/http';
import { defined, isFields, asNonEmptyText, type Fields } from '../../shared/read-fields.ts';

/** Chat request, as `DefaultChatTransport` posts it and transports receive it. Its content is untrusted. */
export interface ChatRequest {
  /** Id of the thread. */
  chatId: string;
  trigger: 'submit-message' | 'regenerate-message';
  messages: readonly Fields[];
  /** Id of the message to edit, continue or regenerate. */
  messageId?: string;
}

/** A malformed request (status 400). The message is safe to show to the client. */
export class ChatRequestError extends Error {
  override readonly name = 'ChatRequestError';
}

const roles: ReadonlySet<unknown> = new Set(['user', 'assistant', 'system']);

export interface ReadChatRequestOptions {
  /** Creates the id of a chat that does not send one. */
  generateId: () => string;
  limits?: Partial<RequestLimits> | undefined;
}

/** Checks the shape of a chat request. Throws a `ChatRequestError`. Message parts are decoded later and stay untrusted. */
export function readChatRequest(value: unknown, { generateId, limits }: ReadChatRequestOptions): ChatRequest {
  if (!isFields(value)) throw new ChatRequestError('The body is not a JSON object. Send { id, messages, trigger }.');
  const { id, messages, messageId } = value;
  const trigger = value.trigger ?? 'submit-message';
  if (id !== undefined && asNonEmptyText(id) === undefined)
    throw new ChatRequestError('"id" of the chat is not a non-empty string.');
  if (trigger !== 'submit-message' && trigger !== 'regenerate-message') {
    throw new ChatRequestError(`"trigger" must be "submit-message" or "regenerate-message", not ${preview(trigger)}.`);
  }
  if (messageId !== undefined && messageId !== null && asNonEmptyText(messageId) === undefined) {
    throw new ChatRequestError('"messageId" is not a non-empty string.');
  }
  if (!Array.isArray(messages))
    throw new ChatRequestError('"messages" is not an array. Send the UI messages of the chat.');
  if (messages.length === 0) throw new ChatRequestError('"messages" is empty, so there is nothing to answer.');
  checkMessageCounts(messages, countParts, limits);
  const chatId = asNonEmptyText(id) ?? generateId();
  const targetId = asNonEmptyText(messageId);
  checkRequestId('"id"', chatId);
  if (targetId !== undefined) checkRequestId('"messageId"', targetId);
  return { chatId, trigger, messages: messages.map(checkMessage), ...defined({ messageId: targetId }) };
}

function checkMessage(message: unknown, index: number): Fields {
  const path = `messages[${index}]`;
  if (!isFields(message)) throw new ChatRequestError(`${path} is not an object.`);
  if (asNonEmptyText(message.id) === undefined) throw new ChatRequestError(`${path}.id is not a non-empty string.`);
  checkRequestId(`${path}.id`, message.id as string);
  if (!roles.has(message.role)) {
    throw new ChatRequestError(`${path}.role must be "user", "assistant" or "system", not ${preview(message.role)}.`);
  }
  if (!Array.isArray(message.parts)) {
    const hint = 'content' in message ? ' Model messages have "content"; a chat sends UI messages.' : '';
    throw new ChatRequestError(`${path}.parts is not an array.${hint}`);
  }
  return message;
}

function countParts(message: unknown): number {
  return isFields(message) && Array.isArray(message.parts) ? message.parts.length : 0;
}

function preview(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
