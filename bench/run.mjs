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
  for (const name of unknown) console.error(`There is no suite "${name}".`);
  console.error(`usage: npm run bench [${suiteNames.join('|')}] [-- --write] [--page] [--compare] [--quick] [--json]

  --write    measures in three processes, and writes bench/results.json, and of it docs/benchmarks.md and its charts; suites that
             were not run stay as they are
  --page     writes the page and its charts again of the results that there are, and measures nothing
  --compare  says of every row whether it is what docs/benchmarks.md says, and exits with 1 where the spreads do not meet
  --quick    one repetition of each: to see that it works, not to quote
  --json     one JSON object on standard output, for machines`);
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
const say = values.json ? () => undefined : console.log;
const machine = describeMachine();
const versions = readVersions();
/** @type {Record<string, SuiteResult>} */
const measured = {};
let isSound = true;
/** What became of all the rows that were compared. @type {Reproduction[]} */
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
    parts.push(await inProcess(name));
  }
  const title = parts[0]?.title ?? name;
  const rows = mergeRows(parts.map((part) => part.rows));
  const leftOut = [...new Set(parts.flatMap((part) => part.leftOut))];
  const seconds = Math.round((performance.now() - began) / 1000);
  say(`\n${title} (${seconds} s)`);
  if (!values.json) printSuite(name, rows);
  for (const why of leftOut) say(`  left out: ${why}`);
  if (values.compare) compareWithPage(name, rows);
  const date = new Date().toISOString().slice(0, 10);
  return { title, date, seconds, processes, repeats, load: Number(load.toFixed(1)), machine, versions, leftOut, rows };
}

/**
 * @param {string} name
 * @returns {Promise<Pick<SuiteResult, 'title' | 'rows' | 'leftOut'>>}
 */
function inProcess(name) {
  const program = fileURLToPath(new URL('suite-process.mjs', import.meta.url));
  const child = fork(program, [name, String(repeats)], { execArgv: ['--expose-gc'] });
  const result = { title: name, rows: [], leftOut: [] };
  return new Promise((resolve, reject) => {
    child.on('message', (part) => void Object.assign(result, part));
    child.once('error', reject);
    child.once('exit', (code) => {
      if (code === 0) resolve(result);
      else reject(new Error(`the suite ended with ${code ?? 'a signal'}; its own words are above.`));
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
  say(`  ${summarize(comparisons.map(({ reproduction }) => reproduction))}`);
  if (recorded?.repeats === 1)
    say('  What is recorded is of one repetition, and has no spread: record it again without --quick.');
  if (!isReproduced(comparisons)) isSound = false;
}
