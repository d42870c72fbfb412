import { applyPatch, type Op, type Patched } from '../json/json-patch.ts';
import type { Json } from '../json/json.ts';

/** Tracks the data parts and the state of a run, to check whether a patch can be applied. */
export class RunValues {
  #data = new Map<string, { value: Json; transient: boolean }>();
  #state: Json | undefined;
  /** Containers that `applyPatch` may change in place. Created on demand: few runs have patches. */
  #owned: WeakSet<object> | undefined;

  /** Returns whether the data with this id is transient; undefined if the id is unknown. */
  isTransient(id: string): boolean | undefined {
    return this.#data.get(id)?.transient;
  }

  setData(id: string, value: Json, transient: boolean): void {
    this.#data.set(id, { value, transient });
  }

  deleteData(id: string): void {
    this.#data.delete(id);
  }

  /** Returns the reason if the patch cannot be applied. */
  patchData(id: string, patch: Op[]): string | undefined {
    const data = this.#data.get(id);
    if (data === undefined) return 'The data part is unknown.';
    const patched = this.#patch(data.value, patch);
    if (!patched.ok) return explainFailure(patched);
    data.value = patched.value;
    return undefined;
  }

  get hasState(): boolean {
    return this.#state !== undefined;
  }

  setState(state: Json): void {
    this.#state = state;
  }

  /** Returns the reason if the patch cannot be applied. */
  patchState(patch: Op[]): string | undefined {
    const patched = this.#patch(this.#state ?? {}, patch);
    if (!patched.ok) return explainFailure(patched);
    this.#state = patched.value;
    return undefined;
  }

  #patch(value: Json, patch: Op[]): Patched {
    return applyPatch(value, patch, (this.#owned ??= new WeakSet()));
  }
}

function explainFailure({ index, message }: Extract<Patched, { ok: false }>): string {
  return `Operation ${index} of the patch fails: ${message}.`;
}
