import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { about } from '../bench/about.mjs';
import { createCharts } from '../bench/charts.mjs';
import { drawChart } from '../bench/draw-chart.mjs';
import { compareRounds, measureAlternately, type Row, type Spread } from '../bench/measure.mjs';
import { mergeRows } from '../bench/merge-rows.mjs';
import { renderPage } from '../bench/page.mjs';
import { findTarget, getVerdict } from '../bench/ratio.mjs';
import { compareRows, isReproduced } from '../bench/reproduce.mjs';
import { readResults, suiteNames } from '../bench/results.mjs';
import { targets } from '../bench/targets.mjs';
import { root } from '../scripts/workspace.mjs';

const results = readResults();
const spread = (low: number, median: number, high: number): Spread => ({ low, median, high });
const row = (name: string, ratio: Spread): Row => ({
  name,
  events: 1,
  ours: spread(1, 1, 1),
  peer: spread(1, 1, 1),
  peerName: 'peer',
  ratio,
});

describe('docs/benchmarks.md', () => {
  const rewrite = 'This file is generated. Write it with `npm run bench -- --write`.';

  it('shows the figures of bench/results.json', () => {
    expect(readFileSync(join(root, 'docs/benchmarks.md'), 'utf8'), rewrite).toBe(renderPage(results));
  });

  it('has exactly the charts of bench/results.json', () => {
    const images = join(root, 'docs/images');
    const drawn = readdirSync(images).filter((name) => name.startsWith('benchmarks-'));
    const charts = createCharts(results);
    expect(drawn.toSorted()).toEqual([...charts.keys()].toSorted());
    for (const [name, chart] of charts) expect(readFileSync(join(images, name), 'utf8'), rewrite).toBe(chart);
  });

  it('describes every suite', () => {
    expect(Object.keys(results)).toEqual(suiteNames);
    expect(Object.keys(about).toSorted()).toEqual(suiteNames.toSorted());
  });

  it.each(targets)('has a row for the target of $suite: $row', ({ suite, row: pattern, atLeast }) => {
    const rows = results[suite]?.rows.filter((found) => pattern.test(`${found.name} | ${found.peerName ?? ''}`)) ?? [];
    expect(rows.map((found) => findTarget(suite, found))).toContain(atLeast);
  });

  it('names the version of every peer', () => {
    const manifest = JSON.parse(readFileSync(join(root, 'bench/package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    for (const result of Object.values(results)) expect(result.versions).toMatchObject(manifest.dependencies);
  });
});

describe('a measurement', () => {
  it('computes the ratio within each round, so that a disturbance of both parties cancels out', () => {
    expect(compareRounds([10, 100, 10], [20, 200, 20]).ratio).toEqual(spread(2, 2, 2));
  });

  it('alternates between the parties, and discards the first two rounds', async () => {
    const order: string[] = [];
    const party = (name: string) => async () => order.push(name);
    const options = { repeats: 2, progress: () => undefined, leaveOut: () => undefined };
    expect(await measureAlternately(options, 'name', [party('a'), party('b')])).toEqual([
      [5, 7],
      [6, 8],
    ]);
    expect(order.join('')).toBe('abababab');
  });

  it('counts a row as lost only if all rounds are lost', () => {
    expect(getVerdict(spread(0.5, 0.6, 0.9))).toBe('loses');
    expect(getVerdict(spread(0.5, 0.6, 1.1))).toBe('level');
    expect(getVerdict(spread(1.1, 2, 3))).toBe('wins');
  });

  it.each([
    ['within', spread(2, 2.5, 9), true],
    ['touches', spread(2.5, 3.5, 9), true],
    ['better', spread(3.1, 3.5, 9), false],
    ['worse', spread(0.5, 0.7, 0.9), false],
  ])('compares a ratio with the recorded spread: %s', (reproduction, ratio, reproduced) => {
    const comparisons = compareRows([row('a', spread(1, 2, 3))], [row('a', ratio)]);
    expect(comparisons.map((found) => found.reproduction)).toEqual([reproduction]);
    expect(isReproduced(comparisons)).toBe(reproduced);
  });

  it.each([
    ['better', spread(1, 2, 3)],
    ['worse', spread(8, 9, 10)],
  ])('reports %s for a time without a peer if the spreads do not overlap', (reproduction, ours) => {
    const comparisons = compareRows(
      [{ name: 'a', events: 1, ours: spread(5, 6, 7) }],
      [{ name: 'a', events: 1, ours }],
    );
    expect(comparisons.map((found) => found.reproduction)).toEqual([reproduction]);
    expect(isReproduced(comparisons)).toBe(false);
  });

  it('reports worse if a growth has increased', () => {
    const grown = (ratio: Spread): Row => ({
      name: 'a',
      events: 1,
      ours: spread(1, 1, 1),
      growth: { from: 'b', ratio },
    });
    const comparisons = compareRows([grown(spread(1, 1.1, 1.2))], [grown(spread(2, 3, 4))]);
    expect(comparisons.map((found) => found.reproduction)).toEqual(['worse']);
    expect(isReproduced(comparisons)).toBe(false);
  });

  it('merges several processes into the median of their medians and the widest spread', () => {
    const processes = [spread(2, 3, 4), spread(5, 6, 9), spread(1, 4, 5)].map((ratio) => [row('a', ratio)]);
    processes[1]!.push(row('only there', spread(1, 1, 1)));
    expect(mergeRows(processes).map(({ name, ratio }) => [name, ratio])).toEqual([
      ['a', spread(1, 4, 9)],
      ['only there', spread(1, 1, 1)],
    ]);
  });

  it('does not reproduce a missing row', () => {
    const comparisons = compareRows([row('a', spread(1, 2, 3))], [row('b', spread(1, 2, 3))]);
    expect(comparisons.map((found) => `${found.row.name} ${found.reproduction}`)).toEqual(['a gone', 'b new']);
    expect(isReproduced(comparisons)).toBe(false);
  });
});

it('describes a chart in text, and escapes names', () => {
  const bars = [{ name: '<a> & "b"', against: 'peer', ratio: spread(0.5, 0.75, 0.9), target: 2 }];
  const svg = drawChart({ title: 'chart', kind: 'compared', bars });
  expect(svg).toContain('<title id="title">chart</title>');
  expect(svg).toContain('&lt;a> &amp; &quot;b&quot;, against peer: 0.75× (0.50–0.90)');
  expect(svg).toContain('class="loses"');
  expect(svg).not.toMatch(/NaN|undefined/);
});
