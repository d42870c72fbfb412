import { applyPatch, type Op, type Patched } from '../json/json-patch.ts';
import type { Json } from '../json/json.ts';

/** The data and the state of a run, as patches have left them: whether the next one can be applied. */
export class RunValues {
  #data = new Map<string, { value: Json; transient: boolean }>();
  #state: Json | undefined;
  /** What patches have made, and may change again. Few runs have any. */
  #owned: WeakSet<object> | undefined;

  /** Whether the data of that id is transient. Undefined: there is none. */
  isTransient(id: string): boolean | undefined {
    return this.#data.get(id)?.transient;
  }

  setData(id: string, value: Json, transient: boolean): void {
    this.#data.set(id, { value, transient });
  }

  forgetData(id: string): void {
    this.#data.delete(id);
  }

  /** Gives the reason where it cannot be. */
  patchData(id: string, patch: Op[]): string | undefined {
    const data = this.#data.get(id);
    if (data === undefined) return 'There is no such data.';
    const patched = this.#patched(data.value, patch);
    if (!patched.ok) return whyNot(patched);
    data.value = patched.value;
    return undefined;
  }

  get hasState(): boolean {
    return this.#state !== undefined;
  }

  setState(state: Json): void {
    this.#state = state;
  }

  /** Gives the reason where it cannot be. */
  patchState(patch: Op[]): string | undefined {
    const patched = this.#patched(this.#state ?? {}, patch);
    if (!patched.ok) return whyNot(patched);
    this.#state = patched.value;
    return undefined;
  }

  #patched(value: Json, patch: Op[]): Patched {
    return applyPatch(value, patch, (this.#owned ??= new WeakSet()));
  }
}

function whyNot({ index, message }: Extract<Patched, { ok: false }>): string {
  return `Its operation ${index} fails: ${message}.`;
}
