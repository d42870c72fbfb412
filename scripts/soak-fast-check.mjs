// @ts-check
// Stands in for fast-check in `npm run soak`: every property gets at least FAST_CHECK_RUNS runs, whatever it asks for.
import * as real from 'fast-check';

export * from 'fast-check';

const least = Number(process.env.FAST_CHECK_RUNS || 20_000);
if (!Number.isSafeInteger(least) || least < 1) throw new Error('FAST_CHECK_RUNS is a number of runs: 1 or more.');

/**
 * @template T
 * @param {real.Parameters<T>} [parameters]
 * @returns {real.Parameters<T>}
 */
const more = (parameters) => ({ ...parameters, numRuns: Math.max(least, parameters?.numRuns ?? 0) });

/** @type {typeof real.assert} */
export const assert = (/** @type {any} */ property, /** @type {any} */ parameters) =>
  real.assert(property, more(parameters));

/** @type {typeof real.check} */
export const check = (/** @type {any} */ property, /** @type {any} */ parameters) =>
  /** @type {any} */ (real.check(property, more(parameters)));

export default { ...real.default, assert, check };
