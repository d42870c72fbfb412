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

async function loadMessages(id: string): Promise<UIMessage[]> {
  const response = await fetch(`/api/threads/${encodeURIComponent(id)}/messages?format=ui`);
  if (response.status === 404) return []; // A new thread.
  if (!response.ok) throw new Error(`The history could not be loaded: ${await response.text()}`);
  const { messages } = (await response.json()) as { messages: UIMessage[] };
  return messages;
}
