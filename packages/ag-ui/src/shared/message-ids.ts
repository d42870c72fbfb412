import type { PartIds } from '@intertie/core/internal';

/** The parts of messages, open or over, by the ids that the agent has for the messages. */
export class MessageIds {
  readonly parts: ReadonlyMap<string, string>;
  #parts = new Map<string, string>();
  #ids: PartIds;

  constructor(ids: PartIds) {
    this.#ids = ids;
    this.parts = this.#parts;
  }

  /** The id of the part that begins under a message's id. */
  open(messageId: string): string {
    const id = this.#ids.open(messageId);
    this.#parts.set(messageId, id);
    return id;
  }

  /** Of what is no message of the agent's. */
  next(): string {
    return this.#ids.next();
  }
}
