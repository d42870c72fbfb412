// @ts-check

/**
 * @typedef {{ name: string, events: number, ours: Spread, peer?: Spread, peerName?: string, note?: string }} Row
 * @typedef {{ median: number, low: number, high: number }} Spread milliseconds
 * @typedef {{ repeats: number, progress: (line: string) => void, clock?: 'wall' | 'cpu' }} Options
 *   `cpu` is for what only computes: on a machine that others use too it is less disturbed.
 * @typedef {{ title: string, run: (options: Options) => Promise<Row[]> }} Suite
 */

/**
 * Measures ours and a peer in turns, so that whatever else the machine does hits both.
 * @param {Options} options
 * @param {{ name: string, events: number, peerName?: string, note?: string, ours: () => unknown, peer?: () => unknown }} contest
 * @returns {Promise<Row>}
 */
export async function measure({ repeats, progress, clock = 'wall' }, { ours, peer, ...row }) {
  /** @type {number[]} */
  const ourTimes = [];
  /** @type {number[]} */
  const peerTimes = [];
  // The first round warms up, and does not count.
  for (let round = 0; round <= repeats; round++) {
    progress(`${row.name}: ${round === 0 ? 'warming up' : `round ${round} of ${repeats}`}`);
    const our = await time(ours, clock);
    const their = peer ? await time(peer, clock) : undefined;
    if (round === 0 && repeats > 0) continue;
    ourTimes.push(our);
    if (their !== undefined) peerTimes.push(their);
  }
  return { ...row, ours: spread(ourTimes), ...(peer && { peer: spread(peerTimes) }) };
}

/**
 * @param {() => unknown} work
 * @param {'wall' | 'cpu'} clock
 */
async function time(work, clock) {
  globalThis.gc?.();
  const start = performance.now();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return clock === 'cpu' ? (user + system) / 1000 : performance.now() - start;
}

/**
 * @param {number[]} times
 * @returns {Spread}
 */
function spread(times) {
  const sorted = times.toSorted((a, b) => a - b);
  return {
    median: sorted[sorted.length >> 1] ?? 0,
    low: sorted[0] ?? 0,
    high: sorted.at(-1) ?? 0,
  };
}
