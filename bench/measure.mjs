// @ts-check

/**
 * @typedef {{ name: string, events: number, ours: Spread, peer?: Spread, peerName?: string, note?: string }} Row
 * @typedef {{ median: number, low: number, high: number }} Spread milliseconds
 * @typedef {{ repeats: number, progress: (line: string) => void }} Options
 * @typedef {{ title: string, run: (options: Options) => Promise<Row[]> }} Suite
 */

/**
 * Measures ours and a peer in turns, so that whatever else the machine does hits both.
 * @param {Options} options
 * @param {{ name: string, events: number, peerName?: string, note?: string, ours: () => unknown, peer?: () => unknown }} contest
 * @returns {Promise<Row>}
 */
export async function measure({ repeats, progress }, { ours, peer, ...row }) {
  /** @type {number[]} */
  const ourTimes = [];
  /** @type {number[]} */
  const peerTimes = [];
  // The first round warms up, and does not count.
  for (let round = 0; round <= repeats; round++) {
    progress(`${row.name}: ${round === 0 ? 'warming up' : `round ${round} of ${repeats}`}`);
    const our = await time(ours);
    const their = peer ? await time(peer) : undefined;
    if (round === 0 && repeats > 0) continue;
    ourTimes.push(our);
    if (their !== undefined) peerTimes.push(their);
  }
  return { ...row, ours: spread(ourTimes), ...(peer && { peer: spread(peerTimes) }) };
}

/** @param {() => unknown} work */
async function time(work) {
  globalThis.gc?.();
  const start = performance.now();
  await work();
  return performance.now() - start;
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
