// @ts-check
import { about } from './about.mjs';
import { chartsOfGroup, groupsOf } from './charts.mjs';
import { showFigure, showRate, showRatio, showRatioSpread } from './figures.mjs';
import { ratioOf, targetOf, verdictOf } from './ratio.mjs';
import { remarkOf } from './report.mjs';

/** @import { Row } from './measure.mjs' */
/** @import { Results, SuiteResult } from './results.mjs' */

/**
 * The page, which says what is in the results and nothing else.
 * @param {Results} results
 * @returns {string}
 */
export function pageOf(results) {
  const order = Object.keys(about);
  const suites = Object.entries(results).toSorted(([a], [b]) => order.indexOf(a) - order.indexOf(b));
  return [
    ...introduction,
    ...caution(suites),
    ...losses(suites),
    ...suites.flatMap(([name, result]) => section(name, result)),
    ...conditions(suites),
  ].join('\n');
}

const introduction = `# Benchmarks

Written by \`npm run bench -- --write\` from \`bench/results.json\`; do not edit.

\`\`\`sh
npm run bench                    # all suites; installs the peers on the first run
npm run bench mail core          # some
npm run bench -- --write         # and write this page; suites that were not run stay as they are
npm run bench -- --compare       # and say of every row whether it is what this page says; exits with 1 where one is not
\`\`\`

A **ratio** is how many times better ours is than the peer: time for the same work, or memory. Above 1× we win. Ours and the peer take
turns in the same run on the same machine, and the ratio is taken within each round, so it means something on machines of other
speeds; the milliseconds do not. First comes the median, in brackets the least and the most of all rounds. Those are the rounds of
several processes, one after the other, since two that do the same compile and place it differently. **Level** is where the rounds do
not agree who is better; **we lose** is where they agree that it is not us. A target is what was asked for when the part was built.
Where there is no peer the **growth** is the same within ourselves: a figure by that of the smallest of its kind. A row is what this
page says where the rounds of a new run and the ones that are recorded here meet; mostly the new median lies within them.
Everything is real but the language model, which says what it is told to, as fast as it is read.
`.split('\n');

/**
 * Says so where the figures are not to be quoted.
 * @param {Array<[string, SuiteResult]>} suites
 */
function caution(suites) {
  const quick = suites.filter(([, { repeats }]) => repeats === 1).map(([name]) => name);
  const busy = suites.filter(([, { load, machine }]) => load > machine.cores / 2).map(([name]) => name);
  return [
    ...(quick.length > 0 ? [`> Not to be quoted, from one repetition (\`--quick\`): ${quick.join(', ')}.`, ''] : []),
    ...(busy.length > 0 ? [`> Measured while the machine did other work: ${busy.join(', ')}.`, ''] : []),
  ];
}

/**
 * All that is slower, bigger or below its target.
 * @param {Array<[string, SuiteResult]>} suites
 */
function losses(suites) {
  const lost = suites.flatMap(([suite, { rows }]) =>
    rows.flatMap((row) => {
      const ratio = ratioOf(row);
      if (!ratio) return [];
      const isBelow = ratio.median < (targetOf(suite, row) ?? 0);
      if (verdictOf(ratio) !== 'loses' && !isBelow) return [];
      return [[suite, cell(row.name), cell(row.peerName ?? ''), showRatioSpread(ratio), remarkOf(suite, row)]];
    }),
  );
  const compared = suites.flatMap(([, { rows }]) => rows).filter((row) => ratioOf(row)).length;
  if (lost.length === 0) return ['## What we lose at', '', `Nothing of ${compared} rows.`, ''];
  return [
    '## What we lose at',
    '',
    `${lost.length} of ${compared} rows with a peer:`,
    '',
    ...table(['suite', '', 'against', 'ratio', ''], lost),
    '',
  ];
}

/**
 * @param {string} name
 * @param {SuiteResult} result
 */
function section(name, { title, rows, leftOut }) {
  const subtitle = title.replace(new RegExp(`^${name}: `), '');
  return [
    `## ${name}`,
    '',
    `${subtitle[0]?.toUpperCase()}${subtitle.slice(1)}.`,
    '',
    ...(about[name] === undefined ? [] : [about[name], '']),
    ...[...groupsOf(rows)].flatMap(([group, some]) => [
      ...(group === '' ? [] : [`### ${group[0]?.toUpperCase()}${group.slice(1)}`, '']),
      ...chartsOfGroup(name, group, some).flatMap(({ file, chart }) => [
        `![${chart.title}: ${chart.kind === 'compared' ? 'the ratios' : 'the growth'} of the table below, as bars](images/${file})`,
        '',
      ]),
      ...rowsTable(name, some),
      '',
    ]),
    ...leftOut.flatMap((why) => [`Left out: ${why}`, '']),
  ];
}

/**
 * Only the columns that something is in.
 * @param {string} suite
 * @param {Row[]} rows
 */
function rowsTable(suite, rows) {
  const lines = rows.map((row) => {
    const ratio = ratioOf(row);
    const target = ratio && targetOf(suite, row);
    const from = row.growth && `${showRatioSpread(row.growth.ratio)} of ${row.growth.from}`;
    return [
      row.name,
      showFigure(row.ours, row.unit),
      showRate(row),
      row.peerName ?? '',
      row.peer ? showFigure(row.peer, row.unit) : '',
      ratio ? showRatioSpread(ratio) : '',
      target === undefined ? '' : showRatio(target),
      from ?? '',
      [remarkOf(suite, row).replace('we lose', '**we lose**'), row.note].filter(Boolean).join('; '),
    ].map(cell);
  });
  const head = ['', 'ours', 'events/s', 'peer', 'the peer’s', 'ratio', 'target', 'growth', ''];
  const used = head.map((_, column) => column === 0 || lines.some((line) => line[column] !== ''));
  /** @param {string[]} line */
  const pick = (line) => line.filter((_, column) => used[column]);
  return table(pick(head), lines.map(pick));
}

/**
 * Where and when: once for all suites that share it.
 * @param {Array<[string, SuiteResult]>} suites
 */
function conditions(suites) {
  /** @type {Map<string, Array<[string, SuiteResult]>>} */
  const places = new Map();
  for (const suite of suites) {
    const key = JSON.stringify([suite[1].machine, suite[1].versions]);
    places.set(key, [...(places.get(key) ?? []), suite]);
  }
  return [
    '## Where and when',
    '',
    ...[...places.values()].flatMap((some) => {
      const result = some[0]?.[1];
      if (!result) return [];
      const { cpu, cores, memory, system, node } = result.machine;
      return [
        `${cpu}, ${cores} cores, ${memory} of memory, ${system}, Node ${node}.`,
        '',
        ...table(
          ['suite', 'date', 'rounds', 'took', 'load before'],
          some.map(([name, { date, processes, repeats, seconds, load }]) => [
            `\`npm run bench ${name}\``,
            date,
            `${processes} × ${repeats}`,
            `${seconds} s`,
            String(load),
          ]),
        ),
        '',
        ...table(
          ['package', 'version'],
          Object.entries(result.versions).map(([name, version]) => [`\`${name}\``, version]),
        ),
        '',
      ];
    }),
  ];
}

/** @param {string[]} head @param {string[][]} lines */
function table(head, lines) {
  /** @param {string[]} cells */
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...lines.map(line)];
}

/** @param {string} words */
const cell = (words) => words.replaceAll('|', '\\|').replaceAll('\n', ' ');
