/** Where a chat's stream broke off. `after` is undefined if it cannot go on there, and must be told all of it again. */
export type ChatCursor = { run: string | undefined; after: string | undefined };

/** How many chats are remembered; the oldest are forgotten first. */
const maxChats = 200;

/**
 * What the chats of this page have read of streams that broke off. It belongs to the page and not to a transport: a
 * component that makes its transport while it renders asks a new one each time, and only a reload forgets.
 */
class ChatCursors {
  #cursors = new Map<string, ChatCursor>();
  #reconnects = new Map<string, number>();

  get(chat: string): ChatCursor | undefined {
    return this.#cursors.get(chat);
  }

  set(chat: string, cursor: ChatCursor): void {
    this.#cursors.delete(chat);
    this.#cursors.set(chat, cursor);
    trim(this.#cursors);
  }

  delete(chat: string): void {
    this.#cursors.delete(chat);
  }

  /** How often the chat has asked to go on. A chat that asks again drops the stream that it asked for before. */
  reconnects(chat: string): number {
    return this.#reconnects.get(chat) ?? 0;
  }

  countReconnect(chat: string): number {
    const count = this.reconnects(chat) + 1;
    this.#reconnects.delete(chat);
    this.#reconnects.set(chat, count);
    trim(this.#reconnects);
    return count;
  }
}

function trim(map: Map<string, unknown>): void {
  for (const oldest of map.keys()) {
    if (map.size <= maxChats) return;
    map.delete(oldest);
  }
}

export const chatCursors: ChatCursors = new ChatCursors();
