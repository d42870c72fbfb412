import type { OnLoss } from '@intertie/core';
import type { Attribution } from '@intertie/core/internal';

/** What the client is not told, by the ids of the parts, and what refers to nothing that it was told. */
export class Withheld {
  #sendInternal: boolean;
  #onLoss: OnLoss;
  #ids = new Set<string>();

  constructor(sendInternal: boolean, onLoss: OnLoss) {
    this.#sendInternal = sendInternal;
    this.#onLoss = onLoss;
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** Whether a part is told, that begins here. */
  admit({ type, internal }: { type: string } & Attribution, id: string): boolean {
    if (!internal || this.#sendInternal) return true;
    this.withhold(type, id, 'What agents say to each other is not shown.');
    return false;
  }

  withhold(what: string, id: string, why: string): void {
    this.#ids.add(id);
    this.#onLoss({ kind: 'withheld', what, why, id });
  }

  /** Of a message that the client has: it was withheld before. */
  learn(id: string): void {
    this.#ids.add(id);
  }

  /** Something refers to a part that is not there: a fault, unless we have kept it back ourselves. */
  missing(what: string, id: string): void {
    if (this.#ids.has(id)) return;
    this.#onLoss({ kind: 'repaired', what, why: 'It refers to something that is not open.', id });
  }
}
