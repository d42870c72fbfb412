// @ts-check
import { getRatio } from './ratio.mjs';
import { toRowKey } from './row-key.mjs';

/** @import { Row, Spread } from './measure.mjs' */

/**
 * Compares a new measurement with the recorded one. `within`: its median lies in the recorded spread. `touches`: it does not, but
 * the two spreads overlap, so the difference is not significant. `better`, `worse`: they do not overlap. `new`, `gone`: only one of
 * the two exists.
 * @typedef {'within' | 'touches' | 'better' | 'worse' | 'new' | 'gone'} Reproduction
 * @typedef {{ row: Row, recorded?: Spread, measured?: Spread, reproduction: Reproduction }} Comparison
 */

/**
 * Compares row by row: by the ratio to a peer, or to the smallest of its kind, which is independent of the machine. Rows with
 * neither are compared by their own figure.
 * @param {Row[]} recorded
 * @param {Row[]} measured
 * @returns {Comparison[]}
 */
export function compareRows(recorded, measured) {
  const found = new Map(measured.map((row) => [toRowKey(row), row]));
  /** @type {Comparison[]} */
  const comparisons = recorded.map((row) => {
    const now = found.get(toRowKey(row));
    found.delete(toRowKey(row));
    if (!now) return { row, recorded: getFigure(row), reproduction: 'gone' };
    const [was, is] = [getFigure(row), getFigure(now)];
    return { row, recorded: was, measured: is, reproduction: compare(was, is, isHigherBetter(row)) };
  });
  for (const row of found.values()) comparisons.push({ row, measured: getFigure(row), reproduction: 'new' });
  return comparisons;
}

/** Whether the recorded figures are confirmed. @param {Comparison[]} comparisons */
export function isReproduced(comparisons) {
  return comparisons.every(({ reproduction }) => reproduced.has(reproduction));
}

/** Summarizes the comparison in a line. @param {Reproduction[]} found */
export function summarize(found) {
  const within = found.filter((reproduction) => reproduction === 'within').length;
  const touching = found.filter((reproduction) => reproduction === 'touches').length;
  const others = found.length - within - touching;
  return `of ${found.length} rows ${within} have their median within the recorded spread, ${touching} have overlapping spreads, ${others} do not`;
}

/** @type {ReadonlySet<Reproduction>} */
const reproduced = new Set(['within', 'touches']);

/** @param {Row} row */
const getFigure = (row) => getRatio(row) ?? row.growth?.ratio ?? row.ours;

/** A higher ratio is better; a lower growth or time is better. @param {Row} row */
const isHigherBetter = (row) => getRatio(row) !== undefined;

/**
 * @param {Spread} was
 * @param {Spread} is
 * @param {boolean} higherIsBetter
 * @returns {Reproduction}
 */
function compare(was, is, higherIsBetter) {
  if (is.median >= was.low && is.median <= was.high) return 'within';
  if (is.low <= was.high && is.high >= was.low) return 'touches';
  return is.median > was.median === higherIsBetter ? 'better' : 'worse';
}
