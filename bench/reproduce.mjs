// @ts-check
import { ratioOf } from './ratio.mjs';

/** @import { Row, Spread } from './measure.mjs' */

/**
 * What a new measurement says of a recorded one. `within`: its median lies in the recorded spread. `touches`: it does not, but
 * the two spreads meet. `better`, `worse`: they do not meet. `new`, `gone`: there is only one of them.
 * @typedef {'within' | 'touches' | 'better' | 'worse' | 'new' | 'gone'} Reproduction
 * @typedef {{ name: string, peerName: string, recorded?: Spread, measured?: Spread, reproduction: Reproduction }} Comparison
 */

/**
 * Row by row: by the ratio where there is a peer, which is the same on machines of any speed; else by our own figure.
 * @param {Row[]} recorded
 * @param {Row[]} measured
 * @returns {Comparison[]}
 */
export function compareRows(recorded, measured) {
  const found = new Map(measured.map((row) => [keyOf(row), row]));
  /** @type {Comparison[]} */
  const comparisons = recorded.map((before) => {
    const now = found.get(keyOf(before));
    found.delete(keyOf(before));
    const names = { name: before.name, peerName: before.peerName ?? '' };
    if (!now) return { ...names, recorded: figureOf(before), reproduction: /** @type {const} */ ('gone') };
    const [was, is] = [figureOf(before), figureOf(now)];
    return { ...names, recorded: was, measured: is, reproduction: compare(was, is, ratioOf(before) !== undefined) };
  });
  for (const now of found.values()) {
    const names = { name: now.name, peerName: now.peerName ?? '' };
    comparisons.push({ ...names, measured: figureOf(now), reproduction: /** @type {const} */ ('new') });
  }
  return comparisons;
}

/** Whether the page may stand as it is. @param {Comparison[]} comparisons */
export function isReproduced(comparisons) {
  return comparisons.every(({ reproduction }) => reproduction === 'within' || reproduction === 'touches');
}

/** @param {Row} row */
const keyOf = ({ name, peerName }) => JSON.stringify([name, peerName]);

/** @param {Row} row */
const figureOf = (row) => ratioOf(row) ?? row.ours;

/**
 * @param {Spread} was
 * @param {Spread} is
 * @param {boolean} isRatio of which more is better
 * @returns {Reproduction}
 */
function compare(was, is, isRatio) {
  if (is.median >= was.low && is.median <= was.high) return 'within';
  if (is.low <= was.high && is.high >= was.low) return 'touches';
  return is.median > was.median === isRatio ? 'better' : 'worse';
}
