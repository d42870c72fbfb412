import { Chat } from '@ai-sdk/react';
import { IntertieChatTransport } from '@intertie/ai-sdk';
import { lastAssistantMessageIsCompleteWithApprovalResponses, type UIMessage } from 'ai';

/** Creates the chat of a thread, with the messages that the server has stored. */
export async function loadChat(id: string): Promise<Chat<UIMessage>> {
  return new Chat({
    id,
    messages: await loadMessages(id),
    // Reconnects after an interruption, and stops the run on the server with the chat.
    transport: new IntertieChatTransport({ api: '/api/chat' }),
    // Sends the answers when every tool call that asked has one.
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
}

export function isBusy({ status }: Chat<UIMessage>): boolean {
  return status === 'submitted' || status === 'streaming';
}

/** Shows what other tabs have sent, and joins an answer that is being written. Keeps a message that could not be sent. */
export async function refreshChat(chat: Chat<UIMessage>): Promise<void> {
  const messages = await loadMessages(chat.id);
  const last = chat.lastMessage;
  const isUnsent = last?.role === 'user' && messages.every(({ id }) => id !== last.id);
  if (isBusy(chat) || isUnsent) return;
  chat.messages = messages;
  // The history leaves out an answer that is being written, so it ends with the message of the user.
  if (messages.at(-1)?.role === 'user') await chat.resumeStream();
}

async function loadMessages(id: string): Promise<UIMessage[]> {
  const url = `/api/threads/${encodeURIComponent(id)}/messages?format=ui`;
  const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
  if (response.status === 404) return []; // A new thread.
  if (!response.ok) throw new Error(`The history could not be loaded: ${await response.text()}`);
  const { messages } = (await response.json()) as { messages: UIMessage[] };
  return messages;
}
