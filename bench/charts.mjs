// @ts-check
import { drawChart } from './draw-chart.mjs';
import { ratioOf, targetOf } from './ratio.mjs';

/** @import { Row } from './measure.mjs' */
/** @import { Results } from './results.mjs' */
/** @import { Chart } from './draw-chart.mjs' */

/**
 * Rows of a suite that belong together, in the order in which they were measured.
 * @param {Row[]} rows
 * @returns {Map<string, Row[]>} by group; '' where there is none
 */
export function groupsOf(rows) {
  /** @type {Map<string, Row[]>} */
  const groups = new Map();
  for (const row of rows) groups.set(row.group ?? '', [...(groups.get(row.group ?? '') ?? []), row]);
  return groups;
}

/**
 * The charts of one group: how it stands to its peers, and how it grows.
 * @param {string} suite
 * @param {string} group
 * @param {Row[]} rows
 * @returns {Array<{ file: string, chart: Chart }>}
 */
export function chartsOfGroup(suite, group, rows) {
  const title = group === '' ? suite : `${suite}: ${group}`;
  const slug = title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  const compared = rows.flatMap((row) => {
    const ratio = ratioOf(row);
    return ratio ? [{ name: row.name, besides: row.peerName ?? '', ratio, target: targetOf(suite, row) }] : [];
  });
  const grown = rows.flatMap(({ name, growth }) =>
    growth ? [{ name, besides: growth.from, ratio: growth.ratio, target: undefined }] : [],
  );
  /** @type {Array<{ file: string, chart: Chart }>} */
  const charts = [];
  if (compared.length > 0) {
    charts.push({ file: `benchmarks-${slug}.svg`, chart: { title, kind: 'compared', bars: compared } });
  }
  if (grown.length > 0) {
    charts.push({ file: `benchmarks-${slug}-growth.svg`, chart: { title, kind: 'grown', bars: grown } });
  }
  return charts;
}

/**
 * Every chart of the page, by the name of its file.
 * @param {Results} results
 * @returns {Map<string, string>}
 */
export function chartsOf(results) {
  /** @type {Map<string, string>} */
  const charts = new Map();
  for (const [suite, { rows }] of Object.entries(results)) {
    for (const [group, some] of groupsOf(rows)) {
      for (const { file, chart } of chartsOfGroup(suite, group, some)) charts.set(file, drawChart(chart));
    }
  }
  return charts;
}
