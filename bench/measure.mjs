// @ts-check

/**
 * @typedef {{ median: number, low: number, high: number }} Spread
 * @typedef {object} Row what was measured, less of which is better
 * @property {string} name
 * @property {string} [group] rows of a suite that belong together
 * @property {number} events how many that took; 0 where it is not about events
 * @property {'ms' | 'kB'} [unit] default: ms
 * @property {Spread} ours
 * @property {Spread} [peer]
 * @property {string} [peerName]
 * @property {Spread} [ratio] the peer's figure by ours, round by round
 * @property {{ from: string, ratio: Spread }} [growth] our figure by that of the smallest of its kind, round by round
 * @property {string} [note]
 *
 * @typedef {object} Options
 * @property {number} repeats
 * @property {number} [warmUpMs] how long each party of a row is warmed up at the least
 * @property {(line: string) => void} progress
 * @property {(why: string) => void} leaveOut
 *
 * @typedef {object} Suite
 * @property {string} title
 * @property {number} [warmUpMs] of one that measures code of this process, in rounds so short that two of them compile nothing
 * @property {(options: Options) => Promise<Row[]>} run
 */

/**
 * Measures ours and a peer in turns, so that whatever else the machine does hits both.
 * @param {Options} options
 * @param {{ name: string, events: number, clock?: 'wall' | 'cpu', peerName?: string, note?: string, ours: () => unknown, peer?: () => unknown }} contest
 * @returns {Promise<Row>}
 */
export async function measure(options, { ours, peer, clock = 'wall', ...row }) {
  const parties = peer ? [ours, peer] : [ours];
  const [ourTimes = [], peerTimes] = await inTurns(
    options,
    row.name,
    parties.map((work) => () => time(work, clock)),
  );
  return { ...row, ours: spread(ourTimes), ...(peerTimes && besides(ourTimes, peerTimes)) };
}

/**
 * Rounds that do not count, unless a suite says otherwise: what runs often is compiled in the first, and again, for what was learnt
 * there, in the second.
 */
const usualWarmUps = 2;

/**
 * What each party gives, round by round. Garbage is collected before the first round and not between them: that would discard
 * compiled code as well, which no server does while it works.
 * @param {Options} options
 * @param {string} name
 * @param {Array<() => Promise<number>>} parties
 * @param {number} [warmUps]
 * @returns {Promise<number[][]>}
 */
export async function inTurns({ repeats, warmUpMs = 0, progress }, name, parties, warmUps = usualWarmUps) {
  /** @type {number[][]} */
  const figures = parties.map(() => []);
  globalThis.gc?.();
  progress(`${name}: warming up`);
  // Each by its own time: beside a slow one a fast one would have had too few rounds to be compiled.
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
 * A peer's figures beside ours. What disturbs a round disturbs both, so the ratio is taken within each.
 * @param {number[]} ours
 * @param {number[]} peer
 * @returns {{ peer: Spread, ratio: Spread }}
 */
export function besides(ours, peer) {
  return { peer: spread(peer), ratio: spread(peer.map((figure, round) => figure / (ours[round] ?? figure))) };
}

/**
 * Milliseconds that it takes, or that the processor works for it.
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
