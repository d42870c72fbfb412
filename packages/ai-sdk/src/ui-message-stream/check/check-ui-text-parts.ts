import { replacedMeta, type Broken } from './check-ui-metadata.ts';

export type WordsKind = 'text' | 'reasoning';
const kinds = ['text', 'reasoning'] as const;

/** The texts and the reasoning that the reducer has open. */
export class CheckedWords {
  readonly #broken: Broken;
  /** By id, what the client has of their metadata. */
  #open: { [kind in WordsKind]: Map<string, { meta: unknown }> } = { text: new Map(), reasoning: new Map() };
  /** What `finish-step` has made ai 6 forget. */
  readonly #forgotten: { [kind in WordsKind]: Set<string> } = { text: new Set(), reasoning: new Set() };

  constructor(broken: Broken) {
    this.#broken = broken;
  }

  get isIdle(): boolean {
    return this.#open.text.size + this.#open.reasoning.size === 0;
  }

  start(kind: WordsKind, { id, providerMetadata: meta }: { id: string; providerMetadata?: unknown }): void {
    if (this.#open[kind].has(id)) {
      this.#broken('S2-open', `The ${kind} "${id}" is open; its part stays unfinished, and a new one begins.`);
    }
    this.#forgotten[kind].delete(id);
    this.#open[kind].set(id, { meta });
  }

  goOn(kind: WordsKind, chunk: { type: string; id: string; providerMetadata?: unknown }, isEnd: boolean): void {
    const part = this.#open[kind].get(chunk.id);
    if (part === undefined) {
      const isForgotten = this.#forgotten[kind].has(chunk.id);
      const rule = isForgotten ? 'T6-step' : kind === 'text' ? 'T1-text' : 'T2-reasoning';
      const why = isForgotten ? 'finish-step has made ai 6 forget it' : 'none is open';
      return this.#broken(rule, `The client throws at this ${chunk.type}: of the ${kind} "${chunk.id}", ${why}.`);
    }
    part.meta = replacedMeta(part.meta, chunk, chunk.id, this.#broken);
    if (isEnd) this.#open[kind].delete(chunk.id);
  }

  reportUnended(): void {
    for (const kind of kinds) {
      for (const id of this.#open[kind].keys()) {
        this.#broken('S1-end', `The ${kind} "${id}" is not ended, and stays as it is.`);
      }
    }
  }

  /** As ai 6 does at the end of a step. */
  forget(): void {
    for (const kind of kinds) {
      for (const id of this.#open[kind].keys()) this.#forgotten[kind].add(id);
      this.#open[kind].clear();
    }
  }

  clear(): void {
    this.#open = { text: new Map(), reasoning: new Map() };
  }
}
