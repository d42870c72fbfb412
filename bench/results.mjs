// @ts-check
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { root } from '../scripts/workspace.mjs';
import { createCharts } from './charts.mjs';
import { renderPage } from './page.mjs';

/** @import { Row } from './measure.mjs' */
/** @import { Machine } from './machine.mjs' */

/**
 * Result of one suite, with machine and date.
 * @typedef {object} SuiteResult
 * @property {string} title
 * @property {string} date
 * @property {number} seconds duration of the measurement
 * @property {number} processes number of sequential processes
 * @property {number} repeats maximum per process; figures with 1 must not be quoted
 * @property {number} load of the machine before the start
 * @property {Machine} machine
 * @property {Record<string, string>} versions
 * @property {string[]} leftOut rows that could not be measured, and why
 * @property {Row[]} rows
 *
 * @typedef {Record<string, SuiteResult>} Results by suite
 */

const file = join(root, 'bench/results.json');
const images = join(root, 'docs/images');

export const suiteNames = readdirSync(join(root, 'bench/suites'))
  .filter((name) => name.endsWith('.mjs'))
  .map((name) => name.slice(0, -'.mjs'.length));

/** @returns {Results} */
export function readResults() {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
}

/**
 * Writes the results, the page and its charts. Removes suites that no longer exist.
 * @param {Results} results
 */
export function writeResults(results) {
  const known = Object.fromEntries(suiteNames.flatMap((name) => (results[name] ? [[name, results[name]]] : [])));
  writeFileSync(file, `${JSON.stringify(known, (_, value) => rounded(value), 1)}\n`);
  const kept = readResults();
  writeFileSync(join(root, 'docs/benchmarks.md'), renderPage(kept));
  for (const name of readdirSync(images)) if (name.startsWith('benchmarks-')) rmSync(join(images, name));
  for (const [name, chart] of createCharts(kept)) writeFileSync(join(images, name), chart);
}

/** Rounds to four digits, more than the precision of the clock. @param {unknown} value */
function rounded(value) {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
}
