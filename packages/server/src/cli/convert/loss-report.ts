import type { Loss } from '@intertie/core';
import type { Paint } from '../paint.ts';

export type LossEntry = Pick<Loss, 'kind' | 'what' | 'why'> & { count: number };

const kinds: { [kind in Loss['kind']]: string } = {
  unsupported: 'not supported by the target protocol',
  withheld: 'not for clients',
  late: 'arrived after the end',
  repaired: 'invalid, repaired',
};
/** Maximum number of distinct losses. Reasons contain ids, so the number would grow with the input. */
const maxEntries = 500;

/** Counts the losses of a conversion by kind, subject and reason. */
export class LossReport {
  #entries = new Map<string, LossEntry>();
  /** Number of losses beyond `maxEntries`. */
  #others = 0;

  add = ({ kind, what, why }: Loss): void => {
    const key = `${kind} ${what} ${why}`;
    const known = this.#entries.get(key);
    if (known) known.count += 1;
    else if (this.#entries.size < maxEntries) this.#entries.set(key, { kind, what, why, count: 1 });
    else this.#others += 1;
  };

  get total(): number {
    return this.entries.reduce((sum, { count }) => sum + count, this.#others);
  }

  get entries(): LossEntry[] {
    return [...this.#entries.values()].toSorted((a, b) => b.count - a.count);
  }

  /** Formats the report as text, grouped by kind. */
  format(paint: Paint, maxPerKind = 8): string {
    const lines: string[] = [];
    for (const kind of Object.keys(kinds) as Array<Loss['kind']>) {
      const entries = this.entries.filter((entry) => entry.kind === kind);
      if (entries.length === 0) continue;
      const total = entries.reduce((sum, { count }) => sum + count, 0);
      lines.push(`  ${paint('yellow', kind)} ${paint('dim', `(${kinds[kind]})`)}: ${total}`);
      for (const { what, why, count } of entries.slice(0, maxPerKind)) {
        lines.push(`    ${String(count).padStart(5)} × ${paint('bold', what)}  ${why}`);
      }
      if (entries.length > maxPerKind) lines.push(paint('dim', `          and ${entries.length - maxPerKind} others`));
    }
    if (this.#others > 0) lines.push(paint('dim', `  and ${this.#others} more`));
    return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
  }
}
