import type { CanonicalMessage, MemoryStore } from '@intertie/core';
import { asText, type Fields } from '../../shared/read-fields.ts';

/**
 * The messages of a thread by the ids that a chat has for them. A chat keeps the id of a message that it edits, and the
 * stored one then has another; which of the two is meant, the thread's active branch says.
 */
export class StoredPath {
  readonly #store: MemoryStore;
  readonly #threadId: string;
  #branch: Promise<CanonicalMessage[]> | undefined;

  constructor(store: MemoryStore, threadId: string) {
    this.#store = store;
    this.#threadId = threadId;
  }

  async find({ id, role }: Fields): Promise<CanonicalMessage | undefined> {
    const messageId = asText(id) ?? '';
    // Those of an assistant are ours, and nobody edits them.
    if (role !== 'assistant') {
      this.#branch ??= this.#store.listMessages({ threadId: this.#threadId });
      const isIt = (message: CanonicalMessage): boolean => message.id === messageId || message.clientId === messageId;
      const onBranch = (await this.#branch).findLast(isIt);
      if (onBranch) return onBranch;
    }
    return (await this.#store.getMessage({ threadId: this.#threadId, messageId })) ?? undefined;
  }

  /** The last of them that is stored. The others never arrived, and a chat shows them all the same. */
  async findLast(messages: readonly Fields[]): Promise<CanonicalMessage | undefined> {
    for (const message of messages.toReversed()) {
      const found = await this.find(message);
      if (found) return found;
    }
    return undefined;
  }
}
