// @ts-check
import { about } from './about.mjs';
import { chartsOfGroup, groupRows } from './charts.mjs';
import { showFigure, showRate, showRatio, showRatioSpread } from './figures.mjs';
import { getRatio, findTarget, getVerdict } from './ratio.mjs';
import { describeRatio } from './report.mjs';

/** @import { Row } from './measure.mjs' */
/** @import { Results, SuiteResult } from './results.mjs' */

/**
 * Renders docs/benchmarks.md from the results.
 * @param {Results} results
 * @returns {string}
 */
export function renderPage(results) {
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

| command | effect |
| --- | --- |
| \`npm run bench\` | all suites; installs the peers on the first run |
| \`npm run bench mail core\` | some suites |
| \`npm run bench -- --write\` | also writes this page; suites that were not run keep their figures |
| \`npm run bench -- --compare\` | also compares with this page; exits with 1 if a row differs |

- **Ratio**: how many times better we are than the peer, in time or memory for the same work. Above 1× we win. Both alternate in the same
  run on the same machine, and the ratio is taken per round, so it is comparable across machines; the milliseconds are not.
- **Figures**: the median, then the minimum and maximum of all rounds. The rounds come from several processes, because compilation and memory
  layout differ between processes.
- **Level**: some rounds are better and some worse than the peer. **We lose**: all rounds are worse.
- **Target**: the required ratio. **Growth**, for rows without a peer: the figure divided by that of the smallest case.
- A row is reproduced if the ranges of the new and the recorded rounds overlap.
- Everything is real except the language model, which is scripted and produces output as fast as it is read.
`.split('\n');

/**
 * Warns about figures that should not be quoted.
 * @param {Array<[string, SuiteResult]>} suites
 */
function caution(suites) {
  const quick = suites.filter(([, { repeats }]) => repeats === 1).map(([name]) => name);
  const busy = suites.filter(([, { load, machine }]) => load > machine.cores / 2).map(([name]) => name);
  return [
    ...(quick.length > 0 ? [`> From one repetition (\`--quick\`), do not quote: ${quick.join(', ')}.`, ''] : []),
    ...(busy.length > 0 ? [`> Measured on a machine with other load: ${busy.join(', ')}.`, ''] : []),
  ];
}

/**
 * Lists all rows that are slower, larger or below their target.
 * @param {Array<[string, SuiteResult]>} suites
 */
function losses(suites) {
  const lost = suites.flatMap(([suite, { rows }]) =>
    rows.flatMap((row) => {
      const ratio = getRatio(row);
      if (!ratio) return [];
      const isBelow = ratio.median < (findTarget(suite, row) ?? 0);
      if (getVerdict(ratio) !== 'loses' && !isBelow) return [];
      return [[suite, cell(row.name), cell(row.peerName ?? ''), showRatioSpread(ratio), describeRatio(suite, row)]];
    }),
  );
  const compared = suites.flatMap(([, { rows }]) => rows).filter((row) => getRatio(row)).length;
  if (lost.length === 0) return ['## What we lose at', '', `None of ${compared} rows.`, ''];
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
function section(name, { rows, leftOut }) {
  return [
    `## ${name}`,
    '',
    ...(about[name] === undefined ? [] : [about[name], '']),
    ...[...groupRows(rows)].flatMap(([group, some]) => [
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
 * Omits empty columns.
 * @param {string} suite
 * @param {Row[]} rows
 */
function rowsTable(suite, rows) {
  const lines = rows.map((row) => {
    const ratio = getRatio(row);
    const target = ratio && findTarget(suite, row);
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
      [describeRatio(suite, row).replace('we lose', '**we lose**'), row.note].filter(Boolean).join('; '),
    ].map(cell);
  });
  const head = ['', 'ours', 'events/s', 'peer', 'peer’s figure', 'ratio', 'target', 'growth', ''];
  const used = head.map((_, column) => column === 0 || lines.some((line) => line[column] !== ''));
  /** @param {string[]} line */
  const pick = (line) => line.filter((_, column) => used[column]);
  return table(pick(head), lines.map(pick));
}

/**
 * Lists machine and versions, once for all suites that share them.
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
    '## Environment',
    '',
    ...[...places.values()].flatMap((some) => {
      const result = some[0]?.[1];
      if (!result) return [];
      const { cpu, cores, memory, system, node } = result.machine;
      return [
        `${cpu}, ${cores} cores, ${memory} of memory, ${system}, Node ${node}.`,
        '',
        ...table(
          ['suite', 'date', 'rounds', 'duration', 'load before'],
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

/** @param {string} text */
const cell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
