import type { OnLoss } from '@intertie/core';
import type { Attribution } from '@intertie/core/internal';

/** Parts that the client does not get, by id. Reports references to parts that are neither open nor withheld. */
export class WithheldParts {
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

  /** Returns whether a starting part is sent. Withholds it otherwise. */
  admit({ type, internal }: { type: string } & Attribution, id: string): boolean {
    if (!internal || this.#sendInternal) return true;
    this.withhold(type, id, 'Messages between agents are not sent.');
    return false;
  }

  withhold(what: string, id: string, why: string): void {
    this.#ids.add(id);
    this.#onLoss({ kind: 'withheld', what, why, id });
  }

  /** Registers a part of an earlier run, which was withheld then. */
  register(id: string): void {
    this.#ids.add(id);
  }

  /** Reports an event that refers to an unknown part, unless the part was withheld. */
  reportMissing(what: string, id: string): void {
    if (this.#ids.has(id)) return;
    this.#onLoss({ kind: 'repaired', what, why: 'It refers to a part that is not open.', id });
  }
}
