/** Position at which a chat's stream was interrupted. Without `after`, only the whole message can be requested. */
export type ChatCursor = { run: string | undefined; after: string | undefined };

/** Maximum number of chats. The oldest are evicted. */
const maxChats = 200;

/**
 * Cursors of interrupted streams by chat. Shared by all transports of a page, because a component that creates its transport
 * while rendering uses a new one for each call.
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

  /** Number of reconnects of a chat. Each one replaces the stream of the one before. */
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

/** Cursors of this page. */
export const chatCursors: ChatCursors = new ChatCursors();
