// @ts-check
import { targets } from './targets.mjs';

/** @import { Row, Spread } from './measure.mjs' */

/**
 * Returns the ratio to the peer, with the minimum and maximum of the rounds.
 * @param {Row} row
 * @returns {Spread | undefined}
 */
export function getRatio({ ours, peer, ratio }) {
  if (ratio || !peer) return ratio;
  return { median: peer.median / ours.median, low: peer.low / ours.high, high: peer.high / ours.low };
}

/**
 * `level`: the rounds disagree.
 * @param {Spread} ratio
 * @returns {'wins' | 'level' | 'loses'}
 */
export function getVerdict({ low, high }) {
  if (low > 1) return 'wins';
  return high < 1 ? 'loses' : 'level';
}

/**
 * Returns the required ratio, if any.
 * @param {string} suite
 * @param {Row} row
 * @returns {number | undefined}
 */
export function findTarget(suite, { name, peerName = '' }) {
  return targets.find((target) => target.suite === suite && target.row.test(`${name} | ${peerName}`))?.atLeast;
}
