import { applyPatch, type EventOf, type Json, type Op } from '@intertie/core';
import type { Complain } from '../rules/canonical-rules.ts';

/** The data and the state of a run: whether each patch can be applied to what is there. */
export class CheckedValues {
  #complain: Complain;
  #data = new Map<string, { value: Json; transient: boolean }>();
  #state: { value: Json } | undefined;
  #owned = new WeakSet<object>();

  constructor(complain: Complain) {
    this.#complain = complain;
  }

  hasData(id: string): boolean {
    return this.#data.has(id);
  }

  setData(event: EventOf<'data'>): void {
    const { id, data: value } = event;
    const transient = event.transient === true;
    const before = this.#data.get(id);
    if (before && before.transient !== transient) this.#complain('C2-id', `The id ${id} is that of other data.`, 'id');
    this.#data.set(id, { value, transient });
  }

  patchData({ id, patch }: EventOf<'data-delta'>): void {
    const data = this.#data.get(id);
    if (data === undefined) return this.#complain('C4-refer', `There is no data ${id}.`, 'id');
    data.value = this.#patched(data.value, patch) ?? data.value;
  }

  learn(id: string, value: Json): void {
    this.#data.set(id, { value, transient: false });
  }

  forgetData(id: string): void {
    this.#data.delete(id);
  }

  setState(value: Json): void {
    this.#state = { value };
  }

  patchState(patch: Op[]): void {
    if (!this.#state) return this.#complain('C8-state', 'A state-delta comes before any state-snapshot.');
    const value = this.#patched(this.#state.value, patch);
    if (value !== undefined) this.#state = { value };
  }

  #patched(value: Json, patch: Op[]): Json | undefined {
    const patched = applyPatch(value, patch, this.#owned);
    if (patched.ok) return patched.value;
    this.#complain('C8-patch', `It cannot be applied: ${patched.message}.`, `patch[${patched.index}]`);
    return undefined;
  }
}
