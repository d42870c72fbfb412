import type { Loss } from '@intertie/core';
import type { Paint } from '../paint.ts';

export type LedgerEntry = Pick<Loss, 'kind' | 'what' | 'why'> & { count: number };

const kinds: { [kind in Loss['kind']]: string } = {
  unsupported: 'has no place in the other dialect',
  withheld: 'is kept back',
  late: 'came after the end',
  repaired: 'was broken, and has been made whole',
};
/** How many different losses are told apart: reasons name ids, and an input may be endless. */
const maxEntries = 500;

/** What did not get through, counted. */
export class Ledger {
  #entries = new Map<string, LedgerEntry>();
  /** Beyond the entries that are told apart. */
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

  get entries(): LedgerEntry[] {
    return [...this.#entries.values()].toSorted((a, b) => b.count - a.count);
  }

  /** A summary for people: what of each kind, and how often. */
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
