// @ts-check
import { keyOf } from './row-key.mjs';

/** @import { Row, Spread } from './measure.mjs' */

/**
 * The rows of several processes as one: two processes that do the same compile and place it differently, and the rounds of one
 * of them know nothing of that. A row that some left out is that of the others.
 * @param {Row[][]} processes
 * @returns {Row[]}
 */
export function mergeRows(processes) {
  /** @type {Map<string, Row[]>} */
  const found = new Map();
  for (const row of processes.flat()) found.set(keyOf(row), [...(found.get(keyOf(row)) ?? []), row]);
  return [...found.values()].map(mergeRow);
}

/**
 * @param {Row[]} rows
 * @returns {Row}
 */
function mergeRow(rows) {
  const [row] = rows;
  if (!row) throw new Error('There is no row to merge.');
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
 * The middle one of their medians, the least and the most of all.
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
