// @ts-check
// npm run bench [suite …] [-- --write] [--page] [--compare] [--quick] [--json]: measures ratios to peers, all in one run.
import { fork } from 'node:child_process';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { install } from '../scripts/install.mjs';
import { showFigure, showRatioSpread } from './figures.mjs';
import { describeMachine, readVersions } from './machine.mjs';
import { mergeRows } from './merge-rows.mjs';
import { getRatio } from './ratio.mjs';
import { printSuite, printTable } from './report.mjs';
import { compareRows, isReproduced, summarize } from './reproduce.mjs';
import { readResults, suiteNames, writeResults } from './results.mjs';

/** @import { Row, Spread } from './measure.mjs' */
/** @import { Reproduction } from './reproduce.mjs' */
/** @import { SuiteResult } from './results.mjs' */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    write: { type: 'boolean' },
    page: { type: 'boolean' },
    compare: { type: 'boolean' },
    json: { type: 'boolean' },
    quick: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  },
});
const unknown = positionals.filter((name) => !suiteNames.includes(name));

if (values.help || unknown.length > 0) {
  for (const name of unknown) console.error(`Unknown suite: ${name}`);
  console.error(`usage: npm run bench [${suiteNames.join('|')}] [-- --write] [--page] [--compare] [--quick] [--json]

  --write    measures in three processes and writes bench/results.json, docs/benchmarks.md and its charts; suites that were not
             run keep their figures
  --page     writes docs/benchmarks.md and its charts from bench/results.json without measuring
  --compare  compares every row with docs/benchmarks.md and exits with 1 if the spreads of a row do not overlap
  --quick    measures one repetition, to check that a suite works; do not quote the figures
  --json     prints one JSON object`);
  process.exit(unknown.length > 0 ? 2 : 0);
}

if (values.page) {
  writeResults(readResults());
  process.exit(0);
}

install('bench');
const load = loadavg()[0] ?? 0;
const repeats = values.quick ? 1 : 5;
/** Recorded figures must hold for any process, so they are the spread of several. */
const processes = values.write && !values.quick ? 3 : 1;
const print = values.json ? () => undefined : console.log;
const machine = describeMachine();
const versions = readVersions();
/** @type {Record<string, SuiteResult>} */
const measured = {};
let isSound = true;
/** Results of all compared rows. @type {Reproduction[]} */
const found = [];

for (const name of positionals.length > 0 ? positionals : suiteNames) {
  try {
    const result = await runSuite(name);
    measured[name] = result;
    if (values.write) writeResults({ ...readResults(), [name]: result });
  } catch (error) {
    // A failed suite does not stop the others.
    isSound = false;
    console.error(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
if (values.json) console.log(JSON.stringify(measured, undefined, 2));
else {
  if (values.compare) console.log(`\nAll suites: ${summarize(found)}`);
  console.log(`\n${machine.cpu}, ${machine.cores} cores, Node ${machine.node}`);
}
process.exit(isSound ? 0 : 1);

/**
 * @param {string} name
 * @returns {Promise<SuiteResult>}
 */
async function runSuite(name) {
  const began = performance.now();
  /** @type {Array<Pick<SuiteResult, 'title' | 'rows' | 'leftOut'>>} */
  const parts = [];
  for (let n = 1; n <= processes; n++) {
    if (processes > 1) process.stderr.write(`${name}: process ${n} of ${processes}\n`);
    parts.push(await runInProcess(name));
  }
  const title = parts[0]?.title ?? name;
  const rows = mergeRows(parts.map((part) => part.rows));
  const leftOut = [...new Set(parts.flatMap((part) => part.leftOut))];
  const seconds = Math.round((performance.now() - began) / 1000);
  print(`\n${title} (${seconds} s)`);
  if (!values.json) printSuite(name, rows);
  for (const why of leftOut) print(`  left out: ${why}`);
  if (values.compare) compareWithPage(name, rows);
  const date = new Date().toISOString().slice(0, 10);
  return { title, date, seconds, processes, repeats, load: Number(load.toFixed(1)), machine, versions, leftOut, rows };
}

/**
 * @param {string} name
 * @returns {Promise<Pick<SuiteResult, 'title' | 'rows' | 'leftOut'>>}
 */
function runInProcess(name) {
  const program = fileURLToPath(new URL('suite-process.mjs', import.meta.url));
  const child = fork(program, [name, String(repeats)], { execArgv: ['--expose-gc'] });
  const result = { title: name, rows: [], leftOut: [] };
  return new Promise((resolve, reject) => {
    child.on('message', (part) => void Object.assign(result, part));
    child.once('error', reject);
    child.once('exit', (code) => {
      if (code === 0) resolve(result);
      else reject(new Error(`the suite ended with ${code ?? 'a signal'}; see its output above.`));
    });
  });
}

/**
 * @param {string} name
 * @param {Row[]} rows
 */
function compareWithPage(name, rows) {
  const recorded = readResults()[name];
  const comparisons = compareRows(recorded?.rows ?? [], rows);
  /** @param {Row} row @param {Spread | undefined} spread */
  const show = (row, spread) => {
    if (!spread) return '';
    return getRatio(row) || row.growth ? showRatioSpread(spread) : showFigure(spread, row.unit);
  };
  if (!values.json) {
    printTable([
      ['', 'recorded', 'now', '', ''],
      ...comparisons.map(({ row, recorded: was, measured: is, reproduction }) => {
        return [row.name, show(row, was), show(row, is), reproduction, row.peerName ?? ''];
      }),
    ]);
  }
  for (const { reproduction } of comparisons) found.push(reproduction);
  print(`  ${summarize(comparisons.map(({ reproduction }) => reproduction))}`);
  if (recorded?.repeats === 1)
    print('  The recorded figures come from one repetition and have no spread. Record them again without --quick.');
  if (!isReproduced(comparisons)) isSound = false;
}
