// @ts-check
/** @import { Row, Spread } from './measure.mjs' */

/** @param {number} ratio */
export function showRatio(ratio) {
  return `${ratio.toFixed(ratio < 1 ? 2 : ratio < 10 ? 1 : 0)}×`;
}

/** @param {Spread} ratio */
export function showRatioSpread({ median, low, high }) {
  return `${showRatio(median)} (${showRatio(low).slice(0, -1)}–${showRatio(high).slice(0, -1)})`;
}

/**
 * @param {Spread} spread
 * @param {Row['unit']} [unit]
 */
export function showFigure({ median, low, high }, unit = 'ms') {
  const digits = median < 1 ? 2 : median < 100 ? 1 : 0;
  return `${median.toFixed(digits)} ${unit} (${low.toFixed(digits)}–${high.toFixed(digits)})`;
}

/**
 * Returns the events per second, or an empty text if the row is not about events.
 * @param {Row} row
 */
export function showRate({ events, ours, unit }) {
  if (events === 0 || (unit ?? 'ms') !== 'ms' || ours.median === 0) return '';
  const rate = (events * 1000) / ours.median;
  if (rate < 1000) return rate.toFixed(0);
  return rate < 1e6 ? `${(rate / 1000).toFixed(rate < 10_000 ? 1 : 0)}k` : `${(rate / 1e6).toFixed(1)}M`;
}
