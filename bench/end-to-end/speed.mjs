// @ts-check
import { inTurns, spread } from '../measure.mjs';
import { pairUp } from './parties.mjs';

/** @import { Options, Row } from '../measure.mjs' */
/** @import { Child } from './child.mjs' */
/** @import { Parties } from './parties.mjs' */

/** Turns for one figure: one alone is too short to be told from chance. */
const turnsEach = 20;

/**
 * How long the first word takes, and how many there are a second.
 * @param {Options} options
 * @param {Parties} parties
 * @param {Child} client
 * @returns {Promise<Row[]>}
 */
export async function speed(options, { all }, client) {
  const servers = [];
  for (const party of all) servers.push(await party.start());
  const doors = all.map((party, index) => party.door(servers[index]?.url ?? ''));
  /** @type {Row[]} */
  const rows = [];
  try {
    const name = 'time to the first word';
    const first = await inTurns(
      options,
      name,
      doors.map((door) => async () => {
        const turns = Array.from({ length: turnsEach }, () => ({ door, question: { words: 20 } }));
        return spread(await client.ask('firstWords', { turns })).median;
      }),
    );
    rows.push(...pairUp(all, first, { name, group: 'the first word', events: 0 }));

    for (const [streams, words] of /** @type {const} */ ([
      [1, 20_000],
      [20, 1_000],
    ])) {
      const what = `${streams === 1 ? 'a stream' : `${streams} streams at once`} of ${words / 1000}k words`;
      const figures = await inTurns(
        options,
        what,
        doors.map((door) => () => {
          const turns = Array.from({ length: streams }, () => ({ door, question: { words } }));
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
