// @ts-check
import { drawChart } from './draw-chart.mjs';
import { getRatio, findTarget } from './ratio.mjs';

/** @import { Row } from './measure.mjs' */
/** @import { Results } from './results.mjs' */
/** @import { Chart } from './draw-chart.mjs' */

/**
 * Groups the rows of a suite, in the order in which they were measured.
 * @param {Row[]} rows
 * @returns {Map<string, Row[]>} by group; '' where there is none
 */
export function groupRows(rows) {
  /** @type {Map<string, Row[]>} */
  const groups = new Map();
  for (const row of rows) groups.set(row.group ?? '', [...(groups.get(row.group ?? '') ?? []), row]);
  return groups;
}

/**
 * Creates the charts of one group: against its peers, and its growth.
 * @param {string} suite
 * @param {string} group
 * @param {Row[]} rows
 * @returns {Array<{ file: string, chart: Chart }>}
 */
export function chartsOfGroup(suite, group, rows) {
  const title = group === '' ? suite : `${suite}: ${group}`;
  const slug = title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  const compared = rows.flatMap((row) => {
    const ratio = getRatio(row);
    return ratio ? [{ name: row.name, against: row.peerName ?? '', ratio, target: findTarget(suite, row) }] : [];
  });
  const grown = rows.flatMap(({ name, growth }) =>
    growth ? [{ name, against: growth.from, ratio: growth.ratio, target: undefined }] : [],
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
 * Creates every chart of the page, by file name.
 * @param {Results} results
 * @returns {Map<string, string>}
 */
export function createCharts(results) {
  /** @type {Map<string, string>} */
  const charts = new Map();
  for (const [suite, { rows }] of Object.entries(results)) {
    for (const [group, some] of groupRows(rows)) {
      for (const { file, chart } of chartsOfGroup(suite, group, some)) charts.set(file, drawChart(chart));
    }
  }
  return charts;
}
