// @ts-check

/** @param {import('./measure.mjs').Row[]} rows */
export function printSuite(rows) {
  const table = rows.map(({ name, events, ours, peer, peerName, note }) => [
    name,
    milliseconds(ours),
    `${((ours.median * 1e6) / events).toFixed(0)} ns`,
    peer ? milliseconds(peer) : '',
    peer ? ratio(ours, peer) : '',
    [peerName, note].filter(Boolean).join('; '),
  ]);
  const head = ['', 'ours', 'per event', 'peer', 'ratio', ''];
  const widths = head.map((_, column) => Math.max(...[head, ...table].map((line) => (line[column] ?? '').length)));
  for (const line of [head, ...table]) {
    console.log(
      `  ${line.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  ')}`,
    );
  }
}

/** @param {import('./measure.mjs').Spread} spread */
function milliseconds({ median, low, high }) {
  const digits = median < 100 ? 1 : 0;
  return `${median.toFixed(digits)} ms (${low.toFixed(digits)}–${high.toFixed(digits)})`;
}

/**
 * How many times faster we are, with the least and the most that the repetitions allow.
 * @param {import('./measure.mjs').Spread} ours
 * @param {import('./measure.mjs').Spread} peer
 */
function ratio(ours, peer) {
  const show = (/** @type {number} */ value) => (value < 10 ? value.toFixed(1) : value.toFixed(0));
  return `${show(peer.median / ours.median)}× (${show(peer.low / ours.high)}–${show(peer.high / ours.low)})`;
}
