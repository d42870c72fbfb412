// @ts-check
import { targets } from './targets.mjs';

/** @import { Row, Spread } from './measure.mjs' */

/**
 * How many times better than its peer, with the least and the most that the rounds gave.
 * @param {Row} row
 * @returns {Spread | undefined}
 */
export function ratioOf({ ours, peer, ratio }) {
  if (ratio || !peer) return ratio;
  return { median: peer.median / ours.median, low: peer.low / ours.high, high: peer.high / ours.low };
}

/**
 * `level` is where the rounds do not agree who is better.
 * @param {Spread} ratio
 * @returns {'wins' | 'level' | 'loses'}
 */
export function verdictOf({ low, high }) {
  if (low > 1) return 'wins';
  return high < 1 ? 'loses' : 'level';
}

/**
 * The ratio that is asked for, if any.
 * @param {string} suite
 * @param {Row} row
 * @returns {number | undefined}
 */
export function targetOf(suite, { name, peerName = '' }) {
  return targets.find((target) => target.suite === suite && target.row.test(`${name} | ${peerName}`))?.atLeast;
}
