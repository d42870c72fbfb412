import type { UIMessage } from 'ai';

const key = 'intertie-chat-page';

/** The route stores nothing, so the page keeps the conversation itself: a reload goes on where it was. */
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
    // No room, or not allowed: then a reload starts anew.
  }
}
