// @ts-check
import { showRatio, showRatioSpread } from './figures.mjs';
import { getVerdict } from './ratio.mjs';

/** @import { Spread } from './measure.mjs' */

/**
 * @typedef {{ name: string, against: string, ratio: Spread, target: number | undefined }} Bar
 * @typedef {{ title: string, kind: 'compared' | 'grown', bars: Bar[] }} Chart
 *   `compared`: ratio to a peer, higher is better. `grown`: ratio to the cost of the smallest, lower is better.
 */

const width = 900;
const label = { left: 16, right: 410 };
const plot = { left: 424, right: 764, top: 62 };
const rowHeight = 38;
const legends = {
  compared:
    'How many times better than the peer (log scale). Blue: we win; grey: level; orange: we lose. Thin line: spread. Diamond: target.',
  grown: 'How many times the cost of the smallest (log scale). Thin line: spread.',
};
/** Readable with colour blindness and on dark pages: an embedded image cannot be styled. */
const style = `
    svg { --paper: #ffffff; --ink: #1f2328; --faint: #59636e; --grid: #d1d9e0; --wins: #0969da; --loses: #bc4c00; --level: #818b98 }
    @media (prefers-color-scheme: dark) {
      svg { --paper: #0d1117; --ink: #f0f6fc; --faint: #9198a1; --grid: #3d444d; --wins: #4493f8; --loses: #db6d28; --level: #9198a1 }
    }
    text { font: 12px system-ui, sans-serif; fill: var(--ink) }
    .small { font-size: 11px; fill: var(--faint) }
    .title { font-size: 15px; font-weight: 600 }
    .end { text-anchor: end }
    .middle { text-anchor: middle }
    .grid { stroke: var(--grid) }
    .one { stroke: var(--ink); stroke-width: 1.5 }
    .wins { fill: var(--wins) }
    .loses { fill: var(--loses) }
    .level { fill: var(--level) }
    .spread { stroke: var(--ink) }
    .target { fill: var(--paper); stroke: var(--ink) }`;

/**
 * Draws horizontal bars from a line at 1×, as a standalone SVG.
 * @param {Chart} chart
 * @returns {string}
 */
export function drawChart({ title, kind, bars }) {
  const scale = createScale(bars);
  const bottom = plot.top + bars.length * rowHeight;
  const height = bottom + 34;
  const grid = createTicks(scale).flatMap((tick) => [
    line(tick === 1 ? 'one' : 'grid', scale.x(tick), plot.top - 6, scale.x(tick), bottom),
    text(`small middle`, scale.x(tick), bottom + 18, showTick(tick)),
  ]);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title desc">`,
    `  <title id="title">${escape(title)}</title>`,
    `  <desc id="desc">${escape(describe({ title, kind, bars }))}</desc>`,
    `  <style>${style}\n  </style>`,
    `  <rect width="${width}" height="${height}" rx="8" fill="var(--paper)"/>`,
    text('title', label.left, 26, title),
    text('small', label.left, 44, legends[kind]),
    ...grid,
    ...bars.flatMap((bar, index) => drawBar(bar, kind, scale, plot.top + index * rowHeight)),
    '</svg>',
    '',
  ].join('\n');
}

/** Describes the chart in text, for screen readers. @param {Chart} chart */
function describe({ kind, bars }) {
  const of = kind === 'compared' ? 'against' : 'of the cost of';
  return bars.map(({ name, against, ratio }) => `${name}, ${of} ${against}: ${showRatioSpread(ratio)}`).join('. ');
}

/**
 * @param {Bar} bar
 * @param {Chart['kind']} kind
 * @param {Scale} scale
 * @param {number} top
 */
function drawBar({ name, against, ratio, target }, kind, scale, top) {
  const [one, at, low, high] = [1, ratio.median, ratio.low, ratio.high].map(scale.x);
  const middle = top + rowHeight / 2;
  const colour = kind === 'compared' ? getVerdict(ratio) : 'level';
  const [left, right] = [Math.min(one ?? 0, at ?? 0), Math.max(one ?? 0, at ?? 0)];
  const diamond = target === undefined ? undefined : scale.x(target);
  return [
    text('', label.left, middle - 2, fit(name, 12)),
    text('small', label.left, middle + 12, fit(`${kind === 'compared' ? 'against' : 'of'} ${against}`, 11)),
    `  <rect class="${colour}" x="${show(left)}" y="${show(middle - 7)}" width="${show(Math.max(right - left, 1))}" height="14" rx="2"/>`,
    line('spread', low ?? 0, middle, high ?? 0, middle),
    line('spread', low ?? 0, middle - 3, low ?? 0, middle + 3),
    line('spread', high ?? 0, middle - 3, high ?? 0, middle + 3),
    ...(diamond === undefined
      ? []
      : [
          `  <path class="target" d="M${show(diamond)} ${show(middle - 6)}l5 6l-5 6l-5 -6z"><title>target: ${showRatio(target ?? 0)}</title></path>`,
        ]),
    text('end', width - 16, middle + 4, showRatioSpread(ratio)),
  ];
}

/** @typedef {{ low: number, high: number, x: (ratio: number) => number }} Scale */

/** @param {Bar[]} bars @returns {Scale} */
function createScale(bars) {
  const all = bars.flatMap(({ ratio, target = 1 }) => [ratio.low, ratio.high, target]).filter((value) => value > 0);
  const low = Math.min(0.5, ...all) / 1.1;
  const high = Math.max(2, ...all) * 1.1;
  const span = Math.log(high / low);
  return {
    low,
    high,
    x: (ratio) => plot.left + (Math.log(Math.max(ratio, low) / low) / span) * (plot.right - plot.left),
  };
}

/** @param {Scale} scale */
function createTicks({ low, high }) {
  const steps = high / low > 100 ? [1] : [1, 2, 5];
  const ticks = [];
  for (let power = -4; power <= 5; power++) {
    for (const step of steps) {
      const tick = Number((step * 10 ** power).toPrecision(1));
      if (tick >= low && tick <= high) ticks.push(tick);
    }
  }
  return ticks;
}

/** @param {number} tick */
const showTick = (tick) => `${tick >= 1000 ? `${tick / 1000}k` : tick}×`;

/** Cuts a text to the available width. @param {string} content @param {number} size */
function fit(content, size) {
  const room = Math.floor((label.right - label.left) / (size * 0.53));
  return content.length <= room ? content : `${content.slice(0, room - 1)}…`;
}

/** @param {string} kind @param {number} x @param {number} y @param {string} content */
const text = (kind, x, y, content) =>
  `  <text${kind === '' ? '' : ` class="${kind}"`} x="${show(x)}" y="${show(y)}">${escape(content)}</text>`;

/** @param {string} kind @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2 */
const line = (kind, x1, y1, x2, y2) =>
  `  <line class="${kind}" x1="${show(x1)}" y1="${show(y1)}" x2="${show(x2)}" y2="${show(y2)}"/>`;

/** @param {number} value */
const show = (value) => String(Number(value.toFixed(1)));

/** @param {string} content */
const escape = (content) => content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
