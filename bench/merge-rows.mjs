// @ts-check
import { toRowKey } from './row-key.mjs';

/** @import { Row, Spread } from './measure.mjs' */

/**
 * Merges the rows of several processes: each process compiles and places the same code differently, which the rounds of one process
 * cannot show. A row may be missing in some processes.
 * @param {Row[][]} processes
 * @returns {Row[]}
 */
export function mergeRows(processes) {
  /** @type {Map<string, Row[]>} */
  const found = new Map();
  for (const row of processes.flat()) found.set(toRowKey(row), [...(found.get(toRowKey(row)) ?? []), row]);
  return [...found.values()].map(mergeRow);
}

/**
 * @param {Row[]} rows
 * @returns {Row}
 */
function mergeRow(rows) {
  const [row] = rows;
  if (!row) throw new Error('No row to merge.');
  const peer = mergeSpreads(rows.map((each) => each.peer));
  const ratio = mergeSpreads(rows.map((each) => each.ratio));
  const growth = mergeSpreads(rows.map((each) => each.growth?.ratio));
  return {
    ...row,
    ours: mergeSpreads(rows.map((each) => each.ours)) ?? row.ours,
    ...(peer && { peer }),
    ...(ratio && { ratio }),
    ...(row.growth && growth && { growth: { ...row.growth, ratio: growth } }),
  };
}

/**
 * Takes the median of the medians, and the minimum and maximum of all.
 * @param {Array<Spread | undefined>} spreads
 * @returns {Spread | undefined}
 */
function mergeSpreads(spreads) {
  const known = spreads.filter((spread) => spread !== undefined).toSorted((a, b) => a.median - b.median);
  const middle = known[known.length >> 1];
  if (!middle) return undefined;
  return {
    median: middle.median,
    low: Math.min(...known.map(({ low }) => low)),
    high: Math.max(...known.map(({ high }) => high)),
  };
}
