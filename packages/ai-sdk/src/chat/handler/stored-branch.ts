import type { CanonicalMessage, MemoryStore } from '@intertie/core';
import { asText, type Fields } from '../../shared/read-fields.ts';

/**
 * Finds stored messages by the ids that a chat uses. After an edit, the chat keeps the id while the stored sibling has
 * another one, so user messages are looked up on the thread's active branch first.
 */
export class StoredBranch {
  readonly #store: MemoryStore;
  readonly #threadId: string;
  #branch: Promise<CanonicalMessage[]> | undefined;

  constructor(store: MemoryStore, threadId: string) {
    this.#store = store;
    this.#threadId = threadId;
  }

  async find({ id, role }: Fields): Promise<CanonicalMessage | undefined> {
    const messageId = asText(id) ?? '';
    // Assistant messages are never edited, so their id is the stored one.
    if (role !== 'assistant') {
      this.#branch ??= this.#store.listMessages({ threadId: this.#threadId });
      const isMatch = (message: CanonicalMessage): boolean =>
        message.id === messageId || message.clientId === messageId;
      const onBranch = (await this.#branch).findLast(isMatch);
      if (onBranch) return onBranch;
    }
    return (await this.#store.getMessage({ threadId: this.#threadId, messageId })) ?? undefined;
  }

  /** Finds the last message that is stored. A chat also sends messages that were rejected and never stored. */
  async findLast(messages: readonly Fields[]): Promise<CanonicalMessage | undefined> {
    for (const message of messages.toReversed()) {
      const found = await this.find(message);
      if (found) return found;
    }
    return undefined;
  }
}
