import { fromModelMessages, fromUIMessages } from '@intertie/ai-sdk';
import type { CanonicalMessage, OnLoss, RunRequest, Store } from '@intertie/core';
import type { NewMessage } from '@intertie/core/store';
import { omit } from '@intertie/core/internal';
import type { ModelMessage, UIMessage } from 'ai';
import type { StreamRequest } from './agent-options.ts';

/** Converts the request. Of chat messages only the last one is used: the store has the others, or they cannot be trusted. */
export async function toRunRequest(asked: StreamRequest, store: Store, onLoss: OnLoss): Promise<RunRequest> {
  const { message, messages, ...request } = omit(asked, 'answers', 'signal');
  if (message !== undefined)
    return { ...request, message: typeof message === 'string' ? toTextMessage(message) : message };
  if (messages === undefined) return request;
  const last = messages.at(-1);
  if (last?.role !== 'user') {
    throw new TypeError(
      `The last of \`messages\` ${last ? `has the role "${last.role}"` : 'is missing'}; a run needs a user message. ` +
        'Pass one as `message`, or answer a paused run with `answers`.',
    );
  }
  const threadId = request.threadId ?? '';
  const [converted] = isUIMessage(last)
    ? fromUIMessages([last], { threadId, createdAt: new Date(), onLoss })
    : fromModelMessages([last], { threadId, createdAt: new Date(), onLoss });
  const parentId = request.parentId === undefined ? await findParent(messages, threadId, store) : request.parentId;
  if (parentId === undefined && messages.length > 1) {
    const why = 'The store does not have the message before the last one, so the last one is appended to the thread.';
    onLoss({ kind: 'withheld', what: 'messages', why });
  }
  return {
    ...request,
    message: toNewMessage(converted!, isUIMessage(last)),
    ...(parentId !== undefined && { parentId }),
  };
}

function toNewMessage({ id, content, createdAt }: CanonicalMessage, hasId: boolean): NewMessage {
  return { ...(hasId && { id }), content, createdAt };
}

/** Returns the id of the message before the last one, if the store has it. */
async function findParent(
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

function toTextMessage(text: string): NewMessage {
  return { content: { format: 2, parts: [{ type: 'text', text }] } };
}
