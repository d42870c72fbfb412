import type { EventOf, Json } from '@intertie/core';
import { applyPatch, type Op } from '@intertie/core/internal';
import type { ReportViolation } from '../rules/canonical-rules.ts';

/** Tracks the data parts and the state of a run, and checks that each patch can be applied to them. */
export class ValueChecker {
  #violation: ReportViolation;
  #data = new Map<string, { value: Json; transient: boolean }>();
  #state: { value: Json } | undefined;
  #owned = new WeakSet<object>();

  constructor(violation: ReportViolation) {
    this.#violation = violation;
  }

  hasData(id: string): boolean {
    return this.#data.has(id);
  }

  setData(event: EventOf<'data'>): void {
    const { id, data: value } = event;
    const transient = event.transient === true;
    const before = this.#data.get(id);
    if (before && before.transient !== transient)
      this.#violation('C2-id', `The data ${id} is both transient and persistent.`, 'id');
    this.#data.set(id, { value, transient });
  }

  patchData({ id, patch }: EventOf<'data-delta'>): void {
    const data = this.#data.get(id);
    if (data === undefined) return this.#violation('C4-refer', `There is no data ${id}.`, 'id');
    data.value = this.#applyPatch(data.value, patch) ?? data.value;
  }

  addFromSnapshot(id: string, value: Json): void {
    this.#data.set(id, { value, transient: false });
  }

  deleteData(id: string): void {
    this.#data.delete(id);
  }

  setState(value: Json): void {
    this.#state = { value };
  }

  patchState(patch: Op[]): void {
    if (!this.#state) return this.#violation('C8-state', 'A state-delta comes before any state-snapshot.');
    const value = this.#applyPatch(this.#state.value, patch);
    if (value !== undefined) this.#state = { value };
  }

  #applyPatch(value: Json, patch: Op[]): Json | undefined {
    const patched = applyPatch(value, patch, this.#owned);
    if (patched.ok) return patched.value;
    this.#violation('C8-patch', `The patch cannot be applied: ${patched.message}.`, `patch[${patched.index}]`);
    return undefined;
  }
}
