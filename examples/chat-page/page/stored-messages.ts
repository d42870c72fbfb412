import type { UIMessage } from 'ai';

const key = 'intertie-chat-page';

/** Restores the conversation after a reload. The page stores it, because the route stores nothing. */
export function readMessages(): UIMessage[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key) ?? '[]');
    return Array.isArray(stored) ? (stored as UIMessage[]) : [];
  } catch {
    return [];
  }
}

export function storeMessages(messages: readonly UIMessage[]): void {
  try {
    localStorage.setItem(key, JSON.stringify(messages));
  } catch {
    // Storage is full or forbidden: a reload then starts a new conversation.
  }
}
