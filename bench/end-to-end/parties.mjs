// @ts-check
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { redisVersion } from '../machine.mjs';
import { compareRounds, spread } from '../measure.mjs';
import { startServer } from '../postgres/server.mjs';
import { startChild } from './child.mjs';
import { startRedis } from './redis.mjs';

/** @import { Options, Row } from '../measure.mjs' */
/** @import { Child } from './child.mjs' */
/** @import { Endpoint } from './requests.mjs' */

/**
 * @typedef {object} Party one way to serve the same model
 * @property {string} name
 * @property {boolean} isOurs
 * @property {() => Promise<Child>} start
 * @property {(url: string) => Endpoint} endpoint
 *
 * @typedef {{ ours: { pglite: Party, postgres: Party, wholeHistory: Party }, plain: Party, all: Party[], stop: () => Promise<void> }} Parties
 */

/**
 * Returns all parties, with the databases that they need. None is started.
 * @param {Options} options
 * @returns {Promise<Parties>}
 */
export async function openParties({ leaveOut }) {
  const folder = mkdtempSync(join(tmpdir(), 'intertie-bench-'));
  const server = await startServer();
  const redis = redisVersion() === undefined ? undefined : await startRedis();
  const token = randomBytes(24).toString('hex');
  /** @param {string} name @param {string} database @param {string[]} settings @returns {Party} */
  const intertie = (name, database, ...settings) => ({
    name,
    isOurs: true,
    start: () => startChild('servers/intertie.mjs', [database, token, ...settings]),
    endpoint: (url) => ({ protocol: 'ui', url: `${url}/api/agents/bench/chat`, token }),
  });
  const ours = {
    pglite: intertie('kept in PGlite', join(folder, 'pglite')),
    postgres: intertie('kept in Postgres', server.url),
    wholeHistory: intertie('kept in Postgres, with the whole history', server.url, 'Infinity'),
  };
  /** @type {Party} */
  const plain = {
    name: 'plain route',
    isOurs: false,
    start: () => startChild('servers/plain.mjs'),
    endpoint: (url) => ({ protocol: 'ui', url }),
  };
  /** @type {Party} */
  const copilotkit = {
    name: 'CopilotKit’s runtime',
    isOurs: false,
    start: () => startChild('servers/copilotkit.mjs'),
    endpoint: (url) => ({ protocol: 'ag-ui', url: `${url}/agent/bench/run` }),
  };
  const all = [ours.pglite, ours.postgres, plain, copilotkit];
  if (redis) {
    all.push({ ...plain, name: 'resumable-stream', start: () => startChild('servers/resumable.mjs', [redis.url]) });
  } else
    leaveOut(
      'the plain route with resumable-stream, since no redis-server was found (`apt-get install redis-server`).',
    );
  return {
    ours,
    plain,
    all,
    async stop() {
      await redis?.stop();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Creates a row for each of ours against each peer.
 * @param {Party[]} parties
 * @param {number[][]} figures of each party, round by round
 * @param {Omit<Row, 'ours'>} row
 * @returns {Row[]}
 */
export function pairUp(parties, figures, row) {
  const measured = parties.map((party, index) => ({ ...party, figures: figures[index] ?? [] }));
  return measured
    .filter(({ isOurs }) => isOurs)
    .flatMap((our) =>
      measured
        .filter(({ isOurs }) => !isOurs)
        .map((peer) => ({
          ...row,
          name: `${row.name}, ${our.name}`,
          ours: spread(our.figures),
          peerName: peer.name,
          ...compareRounds(our.figures, peer.figures),
        })),
    );
}
