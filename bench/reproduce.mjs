// @ts-check
import { ratioOf } from './ratio.mjs';
import { keyOf } from './row-key.mjs';

/** @import { Row, Spread } from './measure.mjs' */

/**
 * What a new measurement says of a recorded one. `within`: its median lies in the recorded spread. `touches`: it does not, but
 * the two spreads meet. `better`, `worse`: they do not meet. `faster`, `slower`: nor do those of a time that stands beside no
 * other, which is the machine's affair. `new`, `gone`: there is only one of them.
 * @typedef {'within' | 'touches' | 'better' | 'worse' | 'faster' | 'slower' | 'new' | 'gone'} Reproduction
 * @typedef {{ row: Row, recorded?: Spread, measured?: Spread, reproduction: Reproduction }} Comparison
 */

/**
 * Row by row: by a ratio where there is one, which is the same on machines of any speed; else by our own figure.
 * @param {Row[]} recorded
 * @param {Row[]} measured
 * @returns {Comparison[]}
 */
export function compareRows(recorded, measured) {
  const found = new Map(measured.map((row) => [keyOf(row), row]));
  /** @type {Comparison[]} */
  const comparisons = recorded.map((row) => {
    const now = found.get(keyOf(row));
    found.delete(keyOf(row));
    if (!now) return { row, recorded: figureOf(row), reproduction: 'gone' };
    const [was, is] = [figureOf(row), figureOf(now)];
    return { row, recorded: was, measured: is, reproduction: compare(was, is, outside(row)) };
  });
  for (const row of found.values()) comparisons.push({ row, measured: figureOf(row), reproduction: 'new' });
  return comparisons;
}

/** Whether the page may stand as it is. @param {Comparison[]} comparisons */
export function isReproduced(comparisons) {
  return comparisons.every(({ reproduction }) => reproduced.has(reproduction));
}

/** @type {ReadonlySet<Reproduction>} */
const reproduced = new Set(['within', 'touches', 'faster', 'slower']);

/** @param {Row} row */
const figureOf = (row) => ratioOf(row) ?? row.growth?.ratio ?? row.ours;

/**
 * What to call more than was recorded, and what to call less.
 * @param {Row} row
 * @returns {[more: Reproduction, less: Reproduction]}
 */
function outside(row) {
  if (ratioOf(row)) return ['better', 'worse'];
  return row.growth ? ['worse', 'better'] : ['slower', 'faster'];
}

/**
 * @param {Spread} was
 * @param {Spread} is
 * @param {[more: Reproduction, less: Reproduction]} words
 * @returns {Reproduction}
 */
function compare(was, is, [more, less]) {
  if (is.median >= was.low && is.median <= was.high) return 'within';
  if (is.low <= was.high && is.high >= was.low) return 'touches';
  return is.median > was.median ? more : less;
}
