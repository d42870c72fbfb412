// @ts-check

/**
 * @typedef {{ median: number, low: number, high: number }} Spread
 * @typedef {object} Row one measurement; lower figures are better
 * @property {string} name
 * @property {string} [group] rows of a suite that belong together
 * @property {number} events number of measured events; 0 if the row is not about events
 * @property {'ms' | 'kB'} [unit] default: ms
 * @property {Spread} ours
 * @property {Spread} [peer]
 * @property {string} [peerName]
 * @property {Spread} [ratio] the peer's figure divided by ours, round by round
 * @property {{ from: string, ratio: Spread }} [growth] our figure divided by that of the smallest of its kind, round by round
 * @property {string} [note]
 *
 * @typedef {object} Options
 * @property {number} repeats
 * @property {number} [warmUpMs] minimum warm-up of each party of a row
 * @property {(line: string) => void} progress
 * @property {(why: string) => void} leaveOut
 *
 * @typedef {object} Suite
 * @property {string} title
 * @property {number} [warmUpMs] for a suite that measures this process in rounds that are too short to compile the code
 * @property {(options: Options) => Promise<Row[]>} run
 */

/**
 * Measures ours and a peer alternately, so that other load on the machine affects both.
 * @param {Options} options
 * @param {{ name: string, events: number, clock?: 'wall' | 'cpu', peerName?: string, note?: string, ours: () => unknown, peer?: () => unknown }} contest
 * @returns {Promise<Row>}
 */
export async function measure(options, { ours, peer, clock = 'wall', ...row }) {
  const parties = peer ? [ours, peer] : [ours];
  const [ourTimes = [], peerTimes] = await measureAlternately(
    options,
    row.name,
    parties.map((work) => () => time(work, clock)),
  );
  return { ...row, ours: spread(ourTimes), ...(peerTimes && compareRounds(ourTimes, peerTimes)) };
}

/**
 * Default number of discarded rounds: hot code is compiled in the first, and compiled again with the collected type feedback in the
 * second.
 */
const usualWarmUps = 2;

/**
 * Measures each party, round by round. Garbage is collected before the first round and not between rounds, because that would also
 * discard compiled code, which does not happen in a busy server.
 * @param {Options} options
 * @param {string} name
 * @param {Array<() => Promise<number>>} parties
 * @param {number} [warmUps]
 * @returns {Promise<number[][]>}
 */
export async function measureAlternately({ repeats, warmUpMs = 0, progress }, name, parties, warmUps = usualWarmUps) {
  /** @type {number[][]} */
  const figures = parties.map(() => []);
  globalThis.gc?.();
  progress(`${name}: warming up`);
  // Each party has its own warm-up time: next to a slow party a fast one would get too few rounds.
  const warmth = parties.map(() => 0);
  for (let round = 0; round < warmUps || warmth.some((ms) => ms < warmUpMs); round++) {
    for (const [index, party] of parties.entries()) {
      const began = performance.now();
      if (round < warmUps || (warmth[index] ?? 0) < warmUpMs) await party();
      warmth[index] = (warmth[index] ?? 0) + performance.now() - began;
    }
  }
  for (let round = 1; round <= repeats; round++) {
    progress(`${name}: round ${round} of ${repeats}`);
    for (const [index, party] of parties.entries()) figures[index]?.push(await party());
  }
  return figures;
}

/**
 * Compares a peer's figures with ours. A disturbance affects both parties of a round, so the ratio is computed per round.
 * @param {number[]} ours
 * @param {number[]} peer
 * @returns {{ peer: Spread, ratio: Spread }}
 */
export function compareRounds(ours, peer) {
  return { peer: spread(peer), ratio: spread(peer.map((figure, round) => figure / (ours[round] ?? figure))) };
}

/**
 * Measures elapsed milliseconds, or milliseconds of CPU time.
 * @param {() => unknown} work
 * @param {'wall' | 'cpu'} clock
 */
export async function time(work, clock) {
  const start = performance.now();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return clock === 'cpu' ? (user + system) / 1000 : performance.now() - start;
}

/**
 * @param {number[]} figures
 * @returns {Spread}
 */
export function spread(figures) {
  const sorted = figures.toSorted((a, b) => a - b);
  return {
    median: sorted[sorted.length >> 1] ?? 0,
    low: sorted[0] ?? 0,
    high: sorted.at(-1) ?? 0,
  };
}
