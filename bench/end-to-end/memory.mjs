// @ts-check
import { setTimeout as sleep } from 'node:timers/promises';

import { startChild } from './child.mjs';
import { pairUp } from './parties.mjs';

/** @import { Options, Row } from '../measure.mjs' */
/** @import { Parties, Party } from './parties.mjs' */

/**
 * Measures the server's memory per stream: for a stream that is idle, and for one that emits text.
 * @param {Options} options
 * @param {Parties} parties
 * @returns {Promise<Row[]>}
 */
export async function memory({ repeats, progress }, { all }) {
  const streams = repeats > 1 ? 200 : 100;
  /** @type {number[][]} */
  const idle = all.map(() => []);
  /** @type {number[][]} */
  const active = all.map(() => []);
  // A new process each time, because a process seldom returns memory to the system.
  for (let round = 1; round <= Math.min(repeats, 3); round++) {
    for (const [index, party] of all.entries()) {
      progress(`memory of ${streams} streams, ${party.name}: round ${round}`);
      const figures = await weigh(party, streams);
      idle[index]?.push(figures.idle);
      active[index]?.push(figures.active);
    }
  }
  const row = { group: 'memory', events: 0, unit: /** @type {const} */ ('kB'), note: `${streams} of them` };
  return [
    ...pairUp(all, idle, { ...row, name: 'an idle stream' }),
    ...pairUp(all, active, { ...row, name: 'a stream of 4 words a second' }),
  ];
}

/**
 * Returns kilobytes per stream.
 * @param {Party} party
 * @param {number} streams
 */
async function weigh(party, streams) {
  const [server, client] = [await party.start(), await startChild('client.mjs')];
  try {
    const endpoint = party.endpoint(server.url);
    /** @param {number} count @param {object} question */
    const turns = (count, question) => Array.from({ length: count }, () => ({ endpoint, question }));
    for (let n = 0; n < 5; n++) await client.ask('readAll', { turns: turns(10, { words: 20 }) });
    const before = await server.ask('memory');
    await client.ask('open', { turns: turns(streams, { words: 1e6, everyMs: 250, waits: true }) });
    await sleep(500);
    const quiet = await server.ask('memory');
    await server.ask('resumeResponses');
    await sleep(2000);
    const busy = await server.ask('memory');
    /** @param {number} bytes */
    const each = (bytes) => Math.max(bytes - before, 1) / streams / 1000;
    return { idle: each(quiet), active: each(busy) };
  } finally {
    await client.stop();
    await server.stop();
  }
}
