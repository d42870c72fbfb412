// @ts-check
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { root } from '../scripts/workspace.mjs';
import { chartsOf } from './charts.mjs';
import { pageOf } from './page.mjs';

/** @import { Row } from './measure.mjs' */
/** @import { Machine } from './machine.mjs' */

/**
 * What was measured, and where and when.
 * @typedef {object} SuiteResult
 * @property {string} title
 * @property {string} date
 * @property {number} seconds how long it took
 * @property {number} processes one after the other
 * @property {number} repeats in each, at the most; 1 is not to be quoted
 * @property {number} load of the machine before it began
 * @property {Machine} machine
 * @property {Record<string, string>} versions
 * @property {string[]} leftOut what could not be measured there, and why
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
 * Writes the results and all that is made of them: the page and its charts. Suites that are no more are forgotten.
 * @param {Results} results
 */
export function writeResults(results) {
  const known = Object.fromEntries(suiteNames.flatMap((name) => (results[name] ? [[name, results[name]]] : [])));
  writeFileSync(file, `${JSON.stringify(known, (_, value) => rounded(value), 1)}\n`);
  const kept = readResults();
  writeFileSync(join(root, 'docs/benchmarks.md'), pageOf(kept));
  for (const name of readdirSync(images)) if (name.startsWith('benchmarks-')) rmSync(join(images, name));
  for (const [name, chart] of chartsOf(kept)) writeFileSync(join(images, name), chart);
}

/** Four digits are more than any clock here is good for. @param {unknown} value */
function rounded(value) {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
}
