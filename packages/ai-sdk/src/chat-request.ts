import { isFields, nameOf, type Fields } from './read-fields.ts';

/** What a chat asks for, as `DefaultChatTransport` posts it and as a transport is called. Checked, and from a stranger. */
export interface ChatRequest {
  /** The thread. */
  chatId: string;
  trigger: 'submit-message' | 'regenerate-message';
  messages: readonly Fields[];
  /** The message that was edited, goes on, or is made anew. */
  messageId?: string;
}

/** A request that no answer can be given to. Its message is for the one who sent it. */
export class ChatRequestError extends Error {
  readonly status: 400 | 413;

  constructor(message: string, status: 400 | 413 = 400) {
    super(message);
    this.name = 'ChatRequestError';
    this.status = status;
  }
}

const roles: ReadonlySet<unknown> = new Set(['user', 'assistant', 'system']);

/** Checks what a request is relied on for; what is in the parts of a message is read, and never trusted, later. */
export function readChatRequest(value: unknown, generateId: () => string): ChatRequest {
  if (!isFields(value)) throw new ChatRequestError('The body is no JSON object. Send { id, messages, trigger }.');
  const { id, messages, messageId } = value;
  const trigger = value.trigger ?? 'submit-message';
  if (id !== undefined && nameOf(id) === undefined) throw new ChatRequestError('"id", the chat’s, is no string.');
  if (trigger !== 'submit-message' && trigger !== 'regenerate-message') {
    throw new ChatRequestError(`"trigger" is "submit-message" or "regenerate-message", not ${shown(trigger)}.`);
  }
  if (messageId !== undefined && messageId !== null && nameOf(messageId) === undefined) {
    throw new ChatRequestError('"messageId" is no string.');
  }
  if (!Array.isArray(messages)) throw new ChatRequestError('"messages" is no list. Send the UI messages of the chat.');
  if (messages.length === 0) throw new ChatRequestError('"messages" is empty, so there is nothing to answer.');
  return {
    chatId: nameOf(id) ?? generateId(),
    trigger,
    messages: messages.map(checkMessage),
    ...(nameOf(messageId) !== undefined && { messageId: messageId as string }),
  };
}

function checkMessage(message: unknown, index: number): Fields {
  const place = `messages[${index}]`;
  if (!isFields(message)) throw new ChatRequestError(`${place} is no object.`);
  if (nameOf(message.id) === undefined) throw new ChatRequestError(`${place}.id is no string.`);
  if (!roles.has(message.role)) {
    throw new ChatRequestError(`${place}.role is "user", "assistant" or "system", not ${shown(message.role)}.`);
  }
  if (!Array.isArray(message.parts)) {
    const hint = 'content' in message ? ' Model messages have "content"; a chat sends UI messages.' : '';
    throw new ChatRequestError(`${place}.parts is no list.${hint}`);
  }
  return message;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
