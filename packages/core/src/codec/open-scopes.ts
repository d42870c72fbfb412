/** Part, step or agent that was opened and must be closed. */
export type OpenScope = { kind: ScopeKind; id: string; stepId: string | undefined; order: number };
export type ScopeKind = 'agent' | 'step' | 'text' | 'reasoning' | 'tool-input';

/** The open scopes of a run. Every delta is looked up here, so there is one map per kind instead of one with combined keys. */
export class OpenScopes {
  #byKind: { [Kind in ScopeKind]: Map<string, OpenScope> | undefined } = {
    agent: undefined,
    step: undefined,
    text: undefined,
    reasoning: undefined,
    'tool-input': undefined,
  };
  #opened = 0;
  #count = 0;

  has(kind: ScopeKind, id: string): boolean {
    return this.#byKind[kind]?.has(id) === true;
  }

  get(kind: ScopeKind, id: string): OpenScope | undefined {
    return this.#byKind[kind]?.get(id);
  }

  add(kind: ScopeKind, id: string, stepId?: string): void {
    this.#opened += 1;
    this.#count += 1;
    (this.#byKind[kind] ??= new Map()).set(id, { kind, id, stepId, order: this.#opened });
  }

  /** Returns whether the scope was open. */
  delete(kind: ScopeKind, id: string): boolean {
    if (this.#byKind[kind]?.delete(id) !== true) return false;
    this.#count -= 1;
    return true;
  }

  /** Returns a copy, so that scopes can be closed while iterating. */
  listNewestFirst(): OpenScope[] {
    const all: OpenScope[] = [];
    if (this.#count === 0) return all;
    for (const kind of Object.values(this.#byKind)) if (kind) all.push(...kind.values());
    return all.toSorted((a, b) => b.order - a.order);
  }
}
