import type { UIMessage } from 'ai';

const key = 'intertie-chat-page';

/** The route stores nothing, so the page stores the conversation to restore it after a reload. */
export function readKept(): UIMessage[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? '[]');
    return Array.isArray(kept) ? (kept as UIMessage[]) : [];
  } catch {
    return [];
  }
}

export function keep(messages: readonly UIMessage[]): void {
  try {
    localStorage.setItem(key, JSON.stringify(messages));
  } catch {
    // Storage is full or forbidden: a reload then starts a new conversation.
  }
}
