/** Something that opens and must close. */
export type Open = { kind: OpenKind; id: string; stepId: string | undefined; order: number };
export type OpenKind = 'agent' | 'step' | 'text' | 'reasoning' | 'tool-input';

/**
 * What is open in a run. Every delta asks for it, so a lookup makes no key of kind and id: a run has few kinds, and a map
 * for each.
 */
export class OpenThings {
  #byKind: { [Kind in OpenKind]: Map<string, Open> | undefined } = {
    agent: undefined,
    step: undefined,
    text: undefined,
    reasoning: undefined,
    'tool-input': undefined,
  };
  #opened = 0;
  #count = 0;

  has(kind: OpenKind, id: string): boolean {
    return this.#byKind[kind]?.has(id) === true;
  }

  get(kind: OpenKind, id: string): Open | undefined {
    return this.#byKind[kind]?.get(id);
  }

  add(kind: OpenKind, id: string, stepId?: string): void {
    this.#opened += 1;
    this.#count += 1;
    (this.#byKind[kind] ??= new Map()).set(id, { kind, id, stepId, order: this.#opened });
  }

  /** Whether it was open. */
  delete(kind: OpenKind, id: string): boolean {
    if (this.#byKind[kind]?.delete(id) !== true) return false;
    this.#count -= 1;
    return true;
  }

  /** All of them, the last opened first. A copy: they may be closed on the way. */
  lastFirst(): Open[] {
    const all: Open[] = [];
    if (this.#count === 0) return all;
    for (const kind of Object.values(this.#byKind)) if (kind) all.push(...kind.values());
    return all.toSorted((a, b) => b.order - a.order);
  }
}
