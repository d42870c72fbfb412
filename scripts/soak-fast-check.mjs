// @ts-check
// Replaces fast-check in `npm run soak`: every property gets at least FAST_CHECK_RUNS runs.
import * as real from 'fast-check';

export * from 'fast-check';

const minRuns = Number(process.env.FAST_CHECK_RUNS || 20_000);
if (!Number.isSafeInteger(minRuns) || minRuns < 1) throw new Error('FAST_CHECK_RUNS must be an integer of 1 or more.');

/**
 * @template T
 * @param {real.Parameters<T>} [parameters]
 * @returns {real.Parameters<T>}
 */
const raiseRuns = (parameters) => ({ ...parameters, numRuns: Math.max(minRuns, parameters?.numRuns ?? 0) });

/** @type {typeof real.assert} */
export const assert = (/** @type {any} */ property, /** @type {any} */ parameters) =>
  real.assert(property, raiseRuns(parameters));

/** @type {typeof real.check} */
export const check = (/** @type {any} */ property, /** @type {any} */ parameters) =>
  /** @type {any} */ (real.check(property, raiseRuns(parameters)));

export default { ...real.default, assert, check };
