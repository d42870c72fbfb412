import type { Message } from '@ag-ui/core';
import type { CanonicalMessage } from '@intertie/core';
import { toAGUIMessages, type UnattachedPart, type ToAGUIMessagesOptions } from '../encode/to-ag-ui-messages.ts';

/** A branch of a thread, and what an AG-UI client has of it. */
export class StoredBranch {
  readonly stored: readonly CanonicalMessage[];
  /** All of it as AG-UI messages, under the ids that the client knows. */
  readonly told: Message[] = [];
  /** What no message can say. */
  readonly beside: UnattachedPart[] = [];
  #places = new Map<string, number>();
  #silent = new Set<number>();

  constructor(stored: readonly CanonicalMessage[], options: ToAGUIMessagesOptions) {
    this.stored = stored;
    const telling = { ...options, onBeside: (beside: UnattachedPart) => void this.beside.push(beside) };
    for (const [index, message] of stored.entries()) {
      const { clientId, id } = message;
      const known = clientId !== undefined && !this.#places.has(clientId) ? clientId : id;
      const told = toAGUIMessages({ ...message, id: known }, telling);
      if (told.length === 0) this.#silent.add(index);
      this.told.push(...told);
      this.#places.set(id, index);
      for (const one of told) for (const key of keysOf(one)) this.#places.set(key, index);
    }
  }

  /** Whether a message of the client's is one of these, or a piece of one. */
  has(message: Message): boolean {
    return this.#place(message) !== undefined;
  }

  /**
   * The stored message that a client means which has this one last. An answer of which there is nothing to see (it has just
   * begun, it failed at once, it only asks something) is meant too: the client cannot have left it out.
   */
  meant(message: Message): CanonicalMessage | undefined {
    let place = this.#place(message);
    if (place === undefined) return undefined;
    while (this.#silent.has(place + 1)) place += 1;
    return this.stored[place];
  }

  /** The stored message itself. */
  find(message: Message): CanonicalMessage | undefined {
    const place = this.#place(message);
    return place === undefined ? undefined : this.stored[place];
  }

  #place(message: Message): number | undefined {
    for (const key of keysOf(message)) {
      const place = this.#places.get(key);
      if (place !== undefined) return place;
    }
    return undefined;
  }
}

/** A result that the client has given is in its own words and under its own id: it is known by its call. */
function keysOf(message: Message): string[] {
  return message.role === 'tool' ? [message.id, `result of ${message.toolCallId}`] : [message.id];
}
