import type { PartIds } from '@intertie/core/internal';

/** Maps the agent's message ids to our part ids, for open and closed parts. */
export class MessageIds {
  readonly parts: ReadonlyMap<string, string>;
  #parts = new Map<string, string>();
  #ids: PartIds;

  constructor(ids: PartIds) {
    this.#ids = ids;
    this.parts = this.#parts;
  }

  /** Assigns a part id to a message that starts. */
  open(messageId: string): string {
    const id = this.#ids.open(messageId);
    this.#parts.set(messageId, id);
    return id;
  }

  /** Returns an id for a part without a message. */
  next(): string {
    return this.#ids.next();
  }
}
