import type { Message } from '@ag-ui/core';
import type { CanonicalMessage } from '@intertie/core';
import { toAGUIMessages, type UnattachedPart, type ToAGUIMessagesOptions } from '../encode/to-ag-ui-messages.ts';

/** Stored branch of a thread, and its AG-UI messages, to match the messages that a client sends. */
export class StoredBranch {
  readonly stored: readonly CanonicalMessage[];
  /** The branch as AG-UI messages, under the ids that the client knows. */
  readonly messages: Message[] = [];
  /** Parts that AG-UI has no message for. */
  readonly unattached: UnattachedPart[] = [];
  #indexes = new Map<string, number>();
  /** Stored messages without any AG-UI message. */
  #invisible = new Set<number>();

  constructor(stored: readonly CanonicalMessage[], options: ToAGUIMessagesOptions) {
    this.stored = stored;
    const messageOptions = { ...options, onUnattached: (part: UnattachedPart) => void this.unattached.push(part) };
    for (const [index, message] of stored.entries()) {
      const { clientId, id } = message;
      const known = clientId !== undefined && !this.#indexes.has(clientId) ? clientId : id;
      const messages = toAGUIMessages({ ...message, id: known }, messageOptions);
      if (messages.length === 0) this.#invisible.add(index);
      this.messages.push(...messages);
      this.#indexes.set(id, index);
      for (const encoded of messages) for (const key of getKeys(encoded)) this.#indexes.set(key, index);
    }
  }

  /** Whether a client's message is, or belongs to, a stored message. */
  has(message: Message): boolean {
    return this.#findIndex(message) !== undefined;
  }

  /**
   * Finds the stored message that a new message follows if the client has `message` last. Skips invisible answers (just started,
   * failed early, or only a question): the client cannot know them, so it does not branch before them.
   */
  findLeaf(message: Message): CanonicalMessage | undefined {
    let index = this.#findIndex(message);
    if (index === undefined) return undefined;
    while (this.#invisible.has(index + 1)) index += 1;
    return this.stored[index];
  }

  find(message: Message): CanonicalMessage | undefined {
    const index = this.#findIndex(message);
    return index === undefined ? undefined : this.stored[index];
  }

  #findIndex(message: Message): number | undefined {
    for (const key of getKeys(message)) {
      const index = this.#indexes.get(key);
      if (index !== undefined) return index;
    }
    return undefined;
  }
}

/** Tool results are also identified by their call: the client chooses the id of a result that it gives. */
function getKeys(message: Message): string[] {
  return message.role === 'tool' ? [message.id, `result of ${message.toolCallId}`] : [message.id];
}
