import { replaceMetadata, type ReportViolation } from './check-ui-metadata.ts';

export type TextPartKind = 'text' | 'reasoning';
const kinds = ['text', 'reasoning'] as const;

/** The texts and the reasoning that the reducer has open. */
export class UITextPartChecker {
  readonly #violate: ReportViolation;
  /** By id, what the client has of their metadata. */
  #open: { [kind in TextPartKind]: Map<string, { meta: unknown }> } = { text: new Map(), reasoning: new Map() };
  /** What `finish-step` has made ai 6 forget. */
  readonly #forgotten: { [kind in TextPartKind]: Set<string> } = { text: new Set(), reasoning: new Set() };

  constructor(violate: ReportViolation) {
    this.#violate = violate;
  }

  get isIdle(): boolean {
    return this.#open.text.size + this.#open.reasoning.size === 0;
  }

  checkStart(kind: TextPartKind, { id, providerMetadata: meta }: { id: string; providerMetadata?: unknown }): void {
    if (this.#open[kind].has(id)) {
      this.#violate('S2-open', `The ${kind} "${id}" is open; its part stays unfinished, and a new one begins.`);
    }
    this.#forgotten[kind].delete(id);
    this.#open[kind].set(id, { meta });
  }

  checkUpdate(
    kind: TextPartKind,
    chunk: { type: string; id: string; providerMetadata?: unknown },
    isEnd: boolean,
  ): void {
    const part = this.#open[kind].get(chunk.id);
    if (part === undefined) {
      const isForgotten = this.#forgotten[kind].has(chunk.id);
      const rule = isForgotten ? 'T6-step' : kind === 'text' ? 'T1-text' : 'T2-reasoning';
      const why = isForgotten ? 'finish-step has made ai 6 forget it' : 'none is open';
      return this.#violate(rule, `The client throws at this ${chunk.type}: of the ${kind} "${chunk.id}", ${why}.`);
    }
    part.meta = replaceMetadata(part.meta, chunk, chunk.id, this.#violate);
    if (isEnd) this.#open[kind].delete(chunk.id);
  }

  reportOpen(): void {
    for (const kind of kinds) {
      for (const id of this.#open[kind].keys()) {
        this.#violate('S1-end', `The ${kind} "${id}" is not ended, and stays as it is.`);
      }
    }
  }

  /** As ai 6 does at the end of a step. */
  forgetOpen(): void {
    for (const kind of kinds) {
      for (const id of this.#open[kind].keys()) this.#forgotten[kind].add(id);
      this.#open[kind].clear();
    }
  }

  clear(): void {
    this.#open = { text: new Map(), reasoning: new Map() };
  }
}
