// @ts-check
import { showFigure, showRate, showRatio, showRatioSpread } from './figures.mjs';
import { getRatio, findTarget, getVerdict } from './ratio.mjs';

/** @import { Row } from './measure.mjs' */

/**
 * @param {string} suite
 * @param {Row[]} rows
 */
export function printSuite(suite, rows) {
  const table = rows.map((row) => {
    const { name, ours, peer, peerName, growth, note, unit } = row;
    const ratio = getRatio(row);
    return [
      name,
      showFigure(ours, unit),
      showRate(row),
      peer ? showFigure(peer, unit) : '',
      ratio ? showRatioSpread(ratio) : '',
      [
        peerName,
        growth && `${showRatioSpread(growth.ratio)} of ${growth.from}`,
        ratio && describeRatio(suite, row),
        note,
      ]
        .filter(Boolean)
        .join('; '),
    ];
  });
  printTable([['', 'ours', 'events/s', 'peer', 'ratio', ''], ...table]);
}

/**
 * Describes a ratio that is lost or below its target.
 * @param {string} suite
 * @param {Row} row
 */
export function describeRatio(suite, row) {
  const ratio = getRatio(row);
  if (!ratio) return '';
  const target = findTarget(suite, row);
  const verdict = getVerdict(ratio);
  return [
    verdict === 'loses' ? 'we lose' : verdict === 'level' ? 'level' : '',
    target !== undefined && ratio.median < target ? `below the target of ${showRatio(target)}` : '',
  ]
    .filter(Boolean)
    .join(', ');
}

/** @param {string[][]} lines */
export function printTable(lines) {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  const last = widths.length - 1;
  for (const line of lines) {
    const cells = line.map((cell, column) =>
      column === 0 || column === last ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    console.log(`  ${cells.join('  ')}`.trimEnd());
  }
}
