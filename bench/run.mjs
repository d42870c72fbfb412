// @ts-check
// npm run bench [suite …] [-- --json] [--quick]: ratios against peers, all of them measured in this one run.
import { readdirSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { parseArgs } from 'node:util';

import { install } from '../scripts/install.mjs';
import { printSuite } from './report.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean' }, quick: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
});
const suites = readdirSync(new URL('suites/', import.meta.url), { encoding: 'utf8' })
  .filter((name) => name.endsWith('.mjs'))
  .map((name) => name.slice(0, -'.mjs'.length));
const unknown = positionals.filter((name) => !suites.includes(name));

if (values.help || unknown.length > 0) {
  for (const name of unknown) console.error(`There is no suite "${name}".`);
  console.error(`usage: npm run bench [${suites.join('|')}] [-- --json] [--quick]

  --json   one JSON object on standard output, for machines
  --quick  one repetition of each: to see that it works, not to quote`);
  process.exit(unknown.length > 0 ? 2 : 0);
}

install('bench');
const results = [];
for (const name of positionals.length > 0 ? positionals : suites) {
  /** @type {import('./measure.mjs').Suite} */
  const suite = (await import(`./suites/${name}.mjs`)).default;
  if (!values.json) console.log(`\n${suite.title}`);
  const rows = await suite.run({
    repeats: values.quick ? 1 : 5,
    progress: (line) => process.stderr.write(`  ${line}\n`),
  });
  results.push({ suite: name, rows });
  if (!values.json) printSuite(rows);
}
const machine = { node: process.version, cpu: cpus()[0]?.model ?? 'unknown', cores: availableParallelism() };
if (values.json) console.log(JSON.stringify({ machine, results }, undefined, 2));
else console.log(`\n${machine.cpu}, ${machine.cores} cores, Node ${machine.node}`);
