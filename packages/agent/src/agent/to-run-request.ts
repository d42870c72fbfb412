import { fromModelMessages, fromUIMessages } from '@intertie/ai-sdk';
import type { CanonicalMessage, OnLoss, RunRequest, Store } from '@intertie/core';
import type { NewMessage } from '@intertie/core/store';
import { omit } from '@intertie/core/internal';
import type { ModelMessage, UIMessage } from 'ai';
import type { StreamRequest } from './agent-options.ts';

/** What is new in a request. Of a chat's messages that is the last one alone: the rest is in the store, or not true. */
export async function toRunRequest(asked: StreamRequest, store: Store, onLoss: OnLoss): Promise<RunRequest> {
  const { message, messages, ...request } = omit(asked, 'answers', 'signal');
  if (message !== undefined) return { ...request, message: typeof message === 'string' ? sayText(message) : message };
  if (messages === undefined) return request;
  const last = messages.at(-1);
  if (last?.role !== 'user') {
    throw new TypeError(
      `The last of \`messages\` is ${last ? `of the role "${last.role}"` : 'missing'}; a run answers a user's message. ` +
        'Give one as `message`, or answer a paused run with `answers`.',
    );
  }
  const threadId = request.threadId ?? '';
  const [said] = isUIMessage(last)
    ? fromUIMessages([last], { threadId, createdAt: new Date(), onLoss })
    : fromModelMessages([last], { threadId, createdAt: new Date(), onLoss });
  const parentId = request.parentId === undefined ? await parentOf(messages, threadId, store) : request.parentId;
  if (parentId === undefined && messages.length > 1) {
    const why = 'The store does not know the message before the last one, so the last one follows what the store has.';
    onLoss({ kind: 'withheld', what: 'messages', why });
  }
  return {
    ...request,
    message: toNewMessage(said!, isUIMessage(last)),
    ...(parentId !== undefined && { parentId }),
  };
}

function toNewMessage({ id, content, createdAt }: CanonicalMessage, hasId: boolean): NewMessage {
  return { ...(hasId && { id }), content, createdAt };
}

/** The message before the last one, if the store knows it; else the thread's head. */
async function parentOf(
  messages: ReadonlyArray<UIMessage | ModelMessage>,
  threadId: string,
  store: Store,
): Promise<string | undefined> {
  const before = messages.at(-2);
  if (!before || !isUIMessage(before) || threadId === '') return undefined;
  const known = await store.getMessage({ threadId, messageId: before.id });
  return known?.id;
}

function isUIMessage(message: UIMessage | ModelMessage): message is UIMessage {
  return 'parts' in message;
}

function sayText(text: string): NewMessage {
  return { content: { format: 2, parts: [{ type: 'text', text }] } };
}
