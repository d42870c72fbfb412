import { replaceMetadata, type ReportViolation } from './check-ui-metadata.ts';

export type TextPartKind = 'text' | 'reasoning';
const kinds = ['text', 'reasoning'] as const;

/** Checks text and reasoning chunks against the parts that the reducer has open. */
export class UITextPartChecker {
  readonly #violation: ReportViolation;
  /** Open parts by id, with the client's metadata. */
  #open: { [kind in TextPartKind]: Map<string, { meta: unknown }> } = { text: new Map(), reasoning: new Map() };
  /** Ids that ai 6 forgot at `finish-step`. */
  readonly #forgotten: { [kind in TextPartKind]: Set<string> } = { text: new Set(), reasoning: new Set() };

  constructor(violation: ReportViolation) {
    this.#violation = violation;
  }

  get isIdle(): boolean {
    return this.#open.text.size + this.#open.reasoning.size === 0;
  }

  checkStart(kind: TextPartKind, { id, providerMetadata: meta }: { id: string; providerMetadata?: unknown }): void {
    if (this.#open[kind].has(id)) {
      this.#violation(
        'S2-open',
        `The ${kind} "${id}" is already open; its part stays unfinished, and a new one starts.`,
      );
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
      const why = isForgotten ? 'was forgotten by ai 6 at finish-step' : 'is not open';
      return this.#violation(rule, `The client throws on this ${chunk.type}: the ${kind} "${chunk.id}" ${why}.`);
    }
    part.meta = replaceMetadata(part.meta, chunk, chunk.id, this.#violation);
    if (isEnd) this.#open[kind].delete(chunk.id);
  }

  reportOpen(): void {
    for (const kind of kinds) {
      for (const id of this.#open[kind].keys()) {
        this.#violation('S1-end', `The ${kind} "${id}" has no end and stays in its streaming state.`);
      }
    }
  }

  /** Forgets the open parts, as ai 6 does at the end of a step. */
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
