// @ts-check
import { measureAlternately, spread } from '../measure.mjs';
import { pairUp } from './parties.mjs';

/** @import { Options, Row } from '../measure.mjs' */
/** @import { Child } from './child.mjs' */
/** @import { Parties } from './parties.mjs' */

/** Requests per figure: a single one is too short to be significant. */
const turnsEach = 20;

/**
 * Measures the time to the first word, and the words per second.
 * @param {Options} options
 * @param {Parties} parties
 * @param {Child} client
 * @returns {Promise<Row[]>}
 */
export async function speed(options, { all }, client) {
  const servers = [];
  for (const party of all) servers.push(await party.start());
  const endpoints = all.map((party, index) => party.endpoint(servers[index]?.url ?? ''));
  /** @type {Row[]} */
  const rows = [];
  try {
    for (const [name, firstMs, count] of /** @type {const} */ ([
      ['time to the first word', 0, turnsEach],
      // What users wait for: models take this long to begin.
      ['time to the first word of a model that takes 200 ms', 200, 5],
    ])) {
      const first = await measureAlternately(
        options,
        name,
        endpoints.map((endpoint) => async () => {
          const turns = Array.from({ length: count }, () => ({ endpoint, question: { words: 20, firstMs } }));
          return spread(await client.ask('measureFirstDeltas', { turns })).median;
        }),
      );
      rows.push(...pairUp(all, first, { name, group: 'the first word', events: 0 }));
    }

    for (const [streams, words] of /** @type {const} */ ([
      [1, 20_000],
      [20, 1_000],
    ])) {
      const what = `${streams === 1 ? 'a stream' : `${streams} streams at once`} of ${words / 1000}k words`;
      const figures = await measureAlternately(
        options,
        what,
        endpoints.map((endpoint) => () => {
          const turns = Array.from({ length: streams }, () => ({ endpoint, question: { words } }));
          return client.ask('readAll', { turns });
        }),
      );
      rows.push(...pairUp(all, figures, { name: what, group: 'events a second', events: streams * words }));
    }
  } finally {
    for (const server of servers) await server.stop();
  }
  return rows;
}
